import { Cron } from 'croner';

/** Numbers, ranges, lists, steps, and names of months and days. No extensions of single cron programs. */
const VALUE = String.raw`(?:\d{1,2}|[A-Za-z]{3})`;
const PART = String.raw`(?:\*|${VALUE}(?:-${VALUE})?)(?:/\d{1,2})?`;
const FIELD = `${PART}(?:,${PART}){0,30}`;
/** The minute must be one number, so that nothing runs more than once an hour. */
const EXPRESSION = new RegExp(String.raw`^[0-5]?\d(?: ${FIELD}){4}$`);

/** The error of an expression. */
export type CronError = 'INVALID_FORMAT' | 'NEVER';

/** Validates an expression; null if it is valid. */
export function violationOfCron(expression: string): CronError | null {
  if (!EXPRESSION.test(expression)) return 'INVALID_FORMAT';
  try {
    // A fixed start, so that the result does not depend on today. The search covers leap years.
    return cronOf(expression, 'UTC').nextRun(new Date('2000-01-01T00:00:00Z')) === null ? 'NEVER' : null;
  } catch {
    return 'INVALID_FORMAT';
  }
}

/**
 * The first time of an expression after a given one. In a DST change, a skipped time moves to the end of the gap, and a repeated time
 * counts once, the first time. Null: there is none.
 */
export function cronAfter(expression: string, timeZone: string, after: number): number | null {
  const cron = cronOf(expression, timeZone);
  let next = cron.nextRun(new Date(after));
  while (next !== null && isSecondTime(next.getTime(), timeZone)) next = cron.nextRun(next);
  return next?.getTime() ?? null;
}

const isSecondTime = (at: number, timeZone: string): boolean => momentOf(wallClock(at, timeZone), timeZone) < at;

const cronOf = (expression: string, timeZone: string): Cron =>
  new Cron(expression, { timezone: timeZone, mode: '5-part' });

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

/** Day of the week, Monday 0 to Sunday 6. 1970-01-01 was a Thursday. */
const weekdayOf = (day: number): number => (((day + 3) % 7) + 7) % 7;

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

export const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;
type Weekday = (typeof WEEKDAYS)[number];

/** A weekly window: on these days, from a time to another one; on the next day if that is not later. */
export interface RotationWindow {
  readonly days: readonly Weekday[];
  readonly from: TimeOfDay;
  readonly to: TimeOfDay;
}

/** An open period; `closesAt` is exclusive. */
interface Opening {
  readonly opensAt: number;
  readonly closesAt: number;
}

/** A DST change can remove the window of one day per year. */
const MAX_DAYS = 16;

/** The first opening that closes after a time: the current or the next one. */
export function openingAfter(at: number, window: RotationWindow, timeZone: string): Opening {
  const today = dayOf(at, timeZone);
  // A window opened yesterday may still be open.
  for (let day = today - 1; day <= today + MAX_DAYS; day += 1) {
    if (!window.days.includes(WEEKDAYS[weekdayOf(day)] as Weekday)) continue;
    const opensAt = momentOnDay(day, window.from, timeZone);
    const closesAt = momentOnDay(isOvernight(window) ? day + 1 : day, window.to, timeZone);
    if (opensAt < closesAt && at < closesAt) return { opensAt, closesAt };
  }
  throw new Error('the window never opens');
}

/** The first time, not before a given one, at which a window is open. */
export const openFrom = (at: number, window: RotationWindow | null, timeZone: string): number =>
  window === null ? at : Math.max(at, openingAfter(at, window, timeZone).opensAt);

/** The first opening that starts at or after a time. */
export function nextOpening(at: number, window: RotationWindow, timeZone: string): number {
  const first = openingAfter(at, window, timeZone);
  return first.opensAt >= at ? first.opensAt : openingAfter(first.closesAt, window, timeZone).opensAt;
}

const minutesOf = ({ hours, minutes }: TimeOfDay): number => hours * 60 + minutes;
const isOvernight = ({ from, to }: RotationWindow): boolean => minutesOf(to) <= minutesOf(from);
