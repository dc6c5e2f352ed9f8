import { endOfTerm } from '../../identity/permissions/public.js';

/** Duration and start of a temporary assignment. */
export interface Term {
  readonly range: string;
  readonly startsAt?: Date | null | undefined;
}

/** A term in the form of the database: empty for a permanent assignment. @param now the current time of the database */
export function termColumns(
  term: Term | null | undefined,
  now: Date,
): { temporaryRange: string | null; startsAt: Date | null; endsAt: Date | null } {
  if (term == null) return { temporaryRange: null, startsAt: null, endsAt: null };
  const startsAt = term.startsAt ?? now;
  return { temporaryRange: term.range, startsAt, endsAt: endOfTerm(startsAt, term.range) };
}
