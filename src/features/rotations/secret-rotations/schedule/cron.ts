import { Cron } from 'croner';
import { momentOf, wallClock } from './calendar.js';

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
