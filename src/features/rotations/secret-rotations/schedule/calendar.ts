/** A local time of day. */
export interface TimeOfDay {
  readonly hours: number;
  readonly minutes: number;
}

const MINUTE_MS = 60_000;
export const DAY_MS = 86_400_000;

/** In practice, zones change their offset by at most this much around a given time. */
const AROUND_MS = DAY_MS;

const formats = new Map<string, Intl.DateTimeFormat>();

/** Local time, in milliseconds since 1970 as if it were UTC. */
export const wallClock = (at: number, timeZone: string): number =>
  timeZone === 'UTC' ? at : at + offsetAt(at, timeZone);

/** Whether a name is a zone of the IANA database. */
export function isTimeZone(name: string): boolean {
  try {
    formatOf(name);
    return true;
  } catch {
    return false;
  }
}

/**
 * The first instant at which the local clock shows a time; if a DST change skips that time, the end of the gap. If the time repeats, the
 * first of both.
 *
 * @param wall milliseconds since 1970 as if the local time were UTC
 */
export function momentOf(wall: number, timeZone: string): number {
  if (timeZone === 'UTC') return wall;
  const [before, after] = [offsetAt(wall - AROUND_MS, timeZone), offsetAt(wall + AROUND_MS, timeZone)];
  const earliest = wall - Math.max(before, after);
  const latest = wall - Math.min(before, after);
  for (const at of [earliest, latest]) if (wallClock(at, timeZone) === wall) return at;
  return firstPast(wall, { from: earliest - 1, to: latest, timeZone });
}

/** The instant of a time of day. @param day days since 1970-01-01 in the calendar of the zone */
export const momentOnDay = (day: number, { hours, minutes }: TimeOfDay, timeZone: string): number =>
  momentOf(day * DAY_MS + (hours * 60 + minutes) * MINUTE_MS, timeZone);

/** The local date of an instant: days since 1970-01-01 in the calendar of the zone. */
export const dayOf = (at: number, timeZone: string): number => Math.floor(wallClock(at, timeZone) / DAY_MS);

/** Binary search: the local clock is behind the time at `from` and past it at `to`. */
function firstPast(wall: number, { from, to, timeZone }: { from: number; to: number; timeZone: string }): number {
  let [behind, past] = [from, to];
  while (past - behind > 1) {
    const middle = Math.floor((behind + past) / 2);
    if (wallClock(middle, timeZone) >= wall) past = middle;
    else behind = middle;
  }
  return past;
}

/** Offset from UTC in milliseconds. */
function offsetAt(at: number, timeZone: string): number {
  const parts: Partial<Record<string, number>> = {};
  for (const { type, value } of formatOf(timeZone).formatToParts(at)) parts[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at / 1_000) * 1_000;
}

/** @throws RangeError for an unknown zone */
function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  formats.set(timeZone, format);
  return format;
}
