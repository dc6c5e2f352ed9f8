import { z } from 'zod';
import type { Rule } from '../../kernel/authz/ability.js';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const UNITS: Readonly<Record<string, number>> = { m: MINUTE, h: 60 * MINUTE, d: DAY, w: 7 * DAY };
const MAX_RANGE = 3_650 * DAY;
const RANGE = /^(\d{1,9})([mhdw])$/;

/** Milliseconds of a range; 0 for what is none. */
function lengthOf(range: string): number {
  const [, count = '', unit = ''] = RANGE.exec(range) ?? [];
  return Number(count) * (UNITS[unit] ?? 0);
}

/** How long a right is held: `2h`. */
export const termRange = z.string().refine((range) => lengthOf(range) >= MINUTE && lengthOf(range) <= MAX_RANGE, {
  error: 'must be a number and m, h, d or w, as 2h: at least 1 minute, at most 10 years (3650 days)',
});

/** What Postgres and ISO 8601 write with four digits, with room for the longest range. */
export const isTermStart = (start: Date): boolean => start.getUTCFullYear() >= 1970 && start.getUTCFullYear() <= 9_900;
/** What a start breaks that is none. */
export const NO_TERM_START = { error: 'must be a date and time (ISO 8601) of the years 1970 to 9900' };

/** From when on a right is held for a time. */
export const termStart = z.date().refine(isTermStart, NO_TERM_START);

/** When a right ends that is held for this long. */
export const endOfTerm = (startsAt: Date, range: string): Date => new Date(startsAt.getTime() + lengthOf(range));

/** Rules that are held for a time, or for good. */
export interface Termed {
  readonly rules: readonly Rule[];
  readonly hasBegun: boolean;
  /** Null: they have no end. */
  readonly endsAt: Date | null;
}

/**
 * Rules that allow whatever their holder may do at any time: a term counts as if it were held now, but what is forbidden for a time
 * is not.
 *
 * @param held in the order in which they count
 */
export const rulesAtAnyTime = (held: readonly Termed[]): Rule[] =>
  held.flatMap(({ rules, hasBegun, endsAt }) =>
    hasBegun && endsAt === null ? rules : rules.filter(({ inverted }) => inverted !== true),
  );

/** Rules that hold now, and until then at least. @param end null: for good */
export const rulesUntil = (held: readonly Termed[], end: Date | null): Rule[] =>
  held.flatMap(({ rules, hasBegun, endsAt }) =>
    hasBegun && (endsAt === null || (end !== null && end <= endsAt)) ? rules : [],
  );
