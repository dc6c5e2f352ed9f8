import { DAY_MS, dayOf, momentOf, momentOnDay, type TimeOfDay, wallClock } from './calendar.js';
import { cronAfter } from './cron.js';
import { nextOpening, openFrom, openingAfter, type RotationWindow } from './rotation-window.js';

/** The schedule of automatic rotation. Pure data: nothing here reads a clock. */
export interface SchedulePolicy {
  /** Whether automatic rotation is on. */
  readonly isAutomatic: boolean;
  /** Interval in days. */
  readonly intervalDays: number;
  /** Time of day, in `timeZone`. */
  readonly rotateAt: TimeOfDay;
  /** A cron expression of five fields, in `timeZone`, instead of interval and time of day; null: none. */
  readonly cron: string | null;
  /** A zone of the IANA database, or `UTC`. */
  readonly timeZone: string;
  /** When it may run; null: any time. */
  readonly window: RotationWindow | null;
  /** When to run after a missed window: as soon as possible, or when the window next opens. */
  readonly missed: MissedRun;
}

export const MISSED_RUNS = ['as-soon-as-possible', 'next-window'] as const;
type MissedRun = (typeof MISSED_RUNS)[number];

/** The last success and its reason. */
export interface LastRotation {
  readonly at: Date;
  readonly reason: 'creation' | 'manual' | 'schedule';
}

/** A run of another rotation, last or next, and the minimum distance from it. */
export interface MinimumDistance {
  readonly at: Date;
  readonly minutes: number;
}

/**
 * When a rotation next runs automatically; null: never. Always after `now`: a change of the schedule starts nothing.
 *
 * After a scheduled run the interval counts from the latest scheduled time that is not after the run, so that times do not drift. After
 * creation or a manual run it is the first scheduled time that is at least the interval later. In a DST change, a skipped time moves to
 * the end of the gap, and a repeated time counts the first time. A time outside of the window moves to its next opening, and a time too
 * close to another rotation moves behind that.
 *
 * @param last the last success
 * @param given `now`: default is the time of the last success; `others`: times to keep a distance from, of rotations that this one names
 *   and of rotations that name this one
 */
export function nextRotationAt(
  policy: SchedulePolicy,
  last: LastRotation,
  { now = last.at, others = [] }: { readonly now?: Date; readonly others?: readonly MinimumDistance[] } = {},
): Date | null {
  if (!policy.isAutomatic) return null;
  const after = Math.max(now.getTime(), last.at.getTime());
  const next =
    policy.cron === null ? nextOfInterval(policy, last, after) : cronAfter(policy.cron, policy.timeZone, after);
  return next === null ? null : new Date(awayFrom(others, openFrom(next, policy.window, policy.timeZone), policy));
}

/**
 * When a due rotation may start; `now` or earlier means now. Later if its window has closed in the meantime, because of downtime or
 * because something else had to end first.
 *
 * @param plannedAt as returned by `nextRotationAt` or `retryAt`
 */
export function startAt({ window, timeZone, missed }: SchedulePolicy, plannedAt: Date, now: Date): Date {
  if (window === null || now < plannedAt) return plannedAt;
  const { closesAt } = openingAfter(plannedAt.getTime(), window, timeZone);
  if (now.getTime() < closesAt) return new Date(openFrom(plannedAt.getTime(), window, timeZone));
  const at = now.getTime();
  return new Date(missed === 'next-window' ? nextOpening(at, window, timeZone) : openFrom(at, window, timeZone));
}

/**
 * Until when a value published now is valid at least, unless somebody rotates manually; null: unknown, because automatic rotation is
 * off.
 *
 * @param given `nextAt`: the next rotation; `overlaps`: whether a replaced credential stays valid until the next rotation
 */
export function validAtLeastUntil(
  policy: SchedulePolicy,
  { nextAt, overlaps }: { readonly nextAt: Date | null; readonly overlaps: boolean },
): Date | null {
  return nextAt === null || !overlaps ? nextAt : nextRotationAt(policy, { at: nextAt, reason: 'schedule' });
}

const FIRST_RETRY_MS = 60_000;
const MAX_RETRY_MS = 6 * 3_600_000;

/** A failed run. */
interface FailedRun {
  readonly at: Date;
  /** Number of consecutive failures, including this one. */
  readonly failures: number;
  /** Random number from 0 to 1. */
  readonly random: number;
  /** Delay that the external system requests. */
  readonly retryAfterSeconds?: number | null;
}

/**
 * When a failed rotation is retried: after a minute, doubling up to six hours, with 50% jitter, so that rotations that failed together
 * are not retried together. Never outside of the window.
 */
export function retryAt(
  { window, timeZone }: Pick<SchedulePolicy, 'window' | 'timeZone'>,
  { at, failures, random, retryAfterSeconds }: FailedRun,
): Date {
  const most = Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), MAX_RETRY_MS);
  const pause = Math.max(Math.round(most / 2 + (random * most) / 2), (retryAfterSeconds ?? 0) * 1_000);
  return new Date(openFrom(at.getTime() + pause, window, timeZone));
}

/** @param after exclusive lower bound of the result */
function nextOfInterval(
  { intervalDays, rotateAt, timeZone }: SchedulePolicy,
  { at, reason }: LastRotation,
  after: number,
): number {
  const next =
    reason === 'schedule'
      ? momentOnDay(latestDay(rotateAt, timeZone, at.getTime()) + intervalDays, rotateAt, timeZone)
      : firstMoment(rotateAt, timeZone, momentOf(wallClock(at.getTime(), timeZone) + intervalDays * DAY_MS, timeZone));
  return next > after ? next : firstMoment(rotateAt, timeZone, after + 1);
}

/** The date of the latest scheduled time that is not after a given time. */
function latestDay(rotateAt: TimeOfDay, timeZone: string, at: number): number {
  const today = dayOf(at, timeZone);
  return momentOnDay(today, rotateAt, timeZone) <= at ? today : today - 1;
}

/** The first scheduled time that is not before a given time. */
function firstMoment(rotateAt: TimeOfDay, timeZone: string, from: number): number {
  const today = dayOf(from, timeZone);
  for (const day of [today - 1, today]) {
    const moment = momentOnDay(day, rotateAt, timeZone);
    if (moment >= from) return moment;
  }
  return momentOnDay(today + 1, rotateAt, timeZone);
}

/** The first time, not before a given one, at the minimum distance from all others and within the window. */
function awayFrom(others: readonly MinimumDistance[], from: number, { window, timeZone }: SchedulePolicy): number {
  const times = others.map(({ at, minutes }) => ({ at: at.getTime(), ms: minutes * 60_000 }));
  for (let at = from; ; ) {
    const near = times.filter((other) => Math.abs(at - other.at) < other.ms);
    if (near.length === 0) return at;
    at = openFrom(Math.max(...near.map((other) => other.at + other.ms)), window, timeZone);
  }
}
