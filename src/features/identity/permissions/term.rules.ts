import * as z from 'zod';
import type { Rule } from '../../../kernel/authz/ability.js';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const UNITS: Readonly<Record<string, number>> = { m: MINUTE, h: 60 * MINUTE, d: DAY, w: 7 * DAY };
const MAX_RANGE = 3_650 * DAY;
const RANGE = /^(\d{1,9})([mhdw])$/;

/** Milliseconds of a range; 0 for an invalid one. */
function lengthOf(range: string): number {
  const [, count = '', unit = ''] = RANGE.exec(range) ?? [];
  return Number(count) * (UNITS[unit] ?? 0);
}

/** Duration of an assignment: `2h`. */
export const termRange = z.string().refine((range) => lengthOf(range) >= MINUTE && lengthOf(range) <= MAX_RANGE, {
  error: 'must be a number and m, h, d or w, for example 2h: at least 1 minute, at most 10 years (3650 days)',
});

/** Dates that Postgres and ISO 8601 write with four digits, with room for the longest range. */
export const isTermStart = (start: Date): boolean => start.getUTCFullYear() >= 1970 && start.getUTCFullYear() <= 9_900;
/** The rule that an invalid start violates. */
export const NO_TERM_START = { error: 'must be an ISO 8601 date and time in the years 1970 to 9900' };

/** When a temporary right starts. */
export const termStart = z.date().refine(isTermStart, NO_TERM_START);

/** When a temporary right of this duration ends. */
export const endOfTerm = (startsAt: Date, range: string): Date => new Date(startsAt.getTime() + lengthOf(range));

/** Rules that apply temporarily or permanently. */
interface Termed {
  readonly rules: readonly Rule[];
  readonly hasBegun: boolean;
  /** Null: they have no end. */
  readonly endsAt: Date | null;
}

/**
 * Rules that allow whatever their holder may do at any time: a temporary grant counts as if it applied now, but a
 * temporary prohibition does not.
 *
 * @param held in order of evaluation
 */
export const rulesAtAnyTime = (held: readonly Termed[]): Rule[] =>
  held.flatMap(({ rules, hasBegun, endsAt }) =>
    hasBegun && endsAt === null ? rules : rules.filter(({ inverted }) => inverted !== true),
  );

/** Rules that apply now, and at least until then. @param end null: permanent */
export const rulesUntil = (held: readonly Termed[], end: Date | null): Rule[] =>
  held.flatMap(({ rules, hasBegun, endsAt }) =>
    hasBegun && (endsAt === null || (end !== null && end <= endsAt)) ? rules : [],
  );
