import { dayOf, momentOnDay, type TimeOfDay } from './calendar.js';

/** Day of the week, Monday 0 to Sunday 6. 1970-01-01 was a Thursday. */
const weekdayOf = (day: number): number => (((day + 3) % 7) + 7) % 7;

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
