/** A whole number and its unit, as `30d`: 1 to 9999 days, weeks, calendar months or calendar years. Source: decisions 7.2. */
export const ALERT_BEFORE = /^[1-9]\d{0,3}[dwmy]$/;

const DAYS: Readonly<Record<string, number>> = { d: 1, w: 7 };
const MONTHS: Readonly<Record<string, number>> = { m: 1, y: 12 };

/**
 * The end of the time that begins now and lasts as long as `alertBefore` says, in UTC. A month ends on the same day of a later month,
 * or on its last day where it is shorter: a month after 31 January is 28 or 29 February.
 *
 * @param alertBefore of the form `ALERT_BEFORE`
 * Source: decisions 7.2.
 */
export function endOfPeriod(now: Date, alertBefore: string): Date {
  const [count, unit] = [Number(alertBefore.slice(0, -1)), alertBefore.slice(-1)];
  const end = new Date(now);
  const months = count * (MONTHS[unit] ?? 0);
  if (months === 0) {
    end.setUTCDate(end.getUTCDate() + count * (DAYS[unit] ?? 0));
    return end;
  }
  const day = end.getUTCDate();
  // From the first day, which every month has.
  end.setUTCDate(1);
  end.setUTCMonth(end.getUTCMonth() + months);
  end.setUTCDate(Math.min(day, lastDayOf(end)));
  return end;
}

/** Number of the last day of the month of a date. */
function lastDayOf(date: Date): number {
  const last = new Date(date);
  last.setUTCMonth(last.getUTCMonth() + 1, 0);
  return last.getUTCDate();
}
