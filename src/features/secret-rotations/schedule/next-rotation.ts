import { cronAfter } from './cron.js';
import { DAY_MS, dayOf, momentOf, momentOnDay, type TimeOfDay, wallClock } from './local-time.js';
import { nextOpening, openFrom, openingAfter, type RotationWindow } from './window.js';

/** When a rotation runs by itself. All of it is data: nothing here reads a clock. */
export interface SchedulePolicy {
  /** False: never by itself. */
  readonly isAutomatic: boolean;
  /** Days from one to the next. */
  readonly intervalDays: number;
  /** The time of day, in `timeZone`. */
  readonly rotateAt: TimeOfDay;
  /** Five fields of cron, in `timeZone`, which stand in for interval and time of day; null: none. */
  readonly cron: string | null;
  /** A zone of the IANA database, or `UTC`. */
  readonly timeZone: string;
  /** When it may run; null: at any time. */
  readonly window: RotationWindow | null;
  /** When to run after the window has passed without: as soon as it may, or when the window opens the next time. */
  readonly missed: MissedRun;
}

export const MISSED_RUNS = ['as-soon-as-possible', 'next-window'] as const;
type MissedRun = (typeof MISSED_RUNS)[number];

/** The last time that it succeeded, and what began that. */
export interface LastRotation {
  readonly at: Date;
  readonly reason: 'creation' | 'manual' | 'schedule';
}

/** A time of another rotation that this one must be so far away from: of the last run, or the next. */
export interface Distance {
  readonly at: Date;
  readonly minutes: number;
}

/**
 * When a rotation runs next by itself; null: it does not. Always after `now`: a change of the schedule begins nothing by itself.
 *
 * After a scheduled run the interval counts from the latest moment of the schedule that is not after the run, so that nothing drifts.
 * After creation or a manual run it is the first such moment that is at least the interval later. A time that the clock skips moves to
 * when it goes on, and one that it shows twice counts the first time. What falls outside of the window moves to its next opening, and
 * what is too near to another rotation moves behind that.
 *
 * @param last when it last succeeded
 * @param given `now`: absent, the moment of the last success; `others`: times to stay away from, which are those of rotations that
 *   this one names and of rotations that name this one
 * Source: decisions 9.6.
 */
export function nextRotationAt(
  policy: SchedulePolicy,
  last: LastRotation,
  { now = last.at, others = [] }: { readonly now?: Date; readonly others?: readonly Distance[] } = {},
): Date | null {
  if (!policy.isAutomatic) return null;
  const after = Math.max(now.getTime(), last.at.getTime());
  const next =
    policy.cron === null ? nextOfInterval(policy, last, after) : cronAfter(policy.cron, policy.timeZone, after);
  return next === null ? null : new Date(awayFrom(others, openFrom(next, policy.window, policy.timeZone), policy));
}

/**
 * When a rotation that was planned may start, asked when its time has come: now or before is now. Later where the window has closed
 * meanwhile, since the service did not run, or something else had to end first.
 *
 * @param plannedAt as `nextRotationAt` or `retryAt` had it
 */
export function startAt({ window, timeZone, missed }: SchedulePolicy, plannedAt: Date, now: Date): Date {
  if (window === null || now < plannedAt) return plannedAt;
  const { closesAt } = openingAfter(plannedAt.getTime(), window, timeZone);
  if (now.getTime() < closesAt) return new Date(openFrom(plannedAt.getTime(), window, timeZone));
  const at = now.getTime();
  return new Date(missed === 'next-window' ? nextOpening(at, window, timeZone) : openFrom(at, window, timeZone));
}

/**
 * Until when a value that is published now is valid at least, unless somebody rotates by hand before; null: nobody can say, since
 * nothing rotates by itself.
 *
 * @param given `nextAt`: when it rotates next; `overlaps`: the credential before stays valid until the rotation after that
 */
export function validAtLeastUntil(
  policy: SchedulePolicy,
  { nextAt, overlaps }: { readonly nextAt: Date | null; readonly overlaps: boolean },
): Date | null {
  return nextAt === null || !overlaps ? nextAt : nextRotationAt(policy, { at: nextAt, reason: 'schedule' });
}

const FIRST_RETRY_MS = 60_000;
const MAX_RETRY_MS = 6 * 3_600_000;

/** A run that failed. */
export interface FailedRun {
  readonly at: Date;
  /** How many have failed in a row, this one too. */
  readonly failures: number;
  /** From 0 to 1. */
  readonly random: number;
  /** What the outside system asked for. */
  readonly retryAfterSeconds?: number | null;
}

/**
 * When a failed rotation is tried again: after a minute, twice as long each time, six hours at most, of which half is random, so that
 * all those that failed together do not come back together. Never outside of the window.
 *
 * Source: decisions 9.6.
 */
export function retryAt(
  { window, timeZone }: Pick<SchedulePolicy, 'window' | 'timeZone'>,
  { at, failures, random, retryAfterSeconds }: FailedRun,
): Date {
  const most = Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), MAX_RETRY_MS);
  const pause = Math.max(Math.round(most / 2 + (random * most) / 2), (retryAfterSeconds ?? 0) * 1_000);
  return new Date(openFrom(at.getTime() + pause, window, timeZone));
}

/** @param after the result is later */
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

/** The day of the latest moment with this time that is not after a given one. */
function latestDay(rotateAt: TimeOfDay, timeZone: string, at: number): number {
  const today = dayOf(at, timeZone);
  return momentOnDay(today, rotateAt, timeZone) <= at ? today : today - 1;
}

/** The first moment with this time that is not before a given one. */
function firstMoment(rotateAt: TimeOfDay, timeZone: string, from: number): number {
  const today = dayOf(from, timeZone);
  for (const day of [today - 1, today]) {
    const moment = momentOnDay(day, rotateAt, timeZone);
    if (moment >= from) return moment;
  }
  return momentOnDay(today + 1, rotateAt, timeZone);
}

/** The first moment, not before a given one, that is far enough from all others, and in the window. */
function awayFrom(others: readonly Distance[], from: number, { window, timeZone }: SchedulePolicy): number {
  const times = others.map(({ at, minutes }) => ({ at: at.getTime(), ms: minutes * 60_000 }));
  for (let at = from; ; ) {
    const near = times.filter((other) => Math.abs(at - other.at) < other.ms);
    if (near.length === 0) return at;
    at = openFrom(Math.max(...near.map((other) => other.at + other.ms)), window, timeZone);
  }
}
