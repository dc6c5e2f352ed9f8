import { endOfTerm } from '../permissions/public.js';

/** For how long something is held, and from when on. */
export interface Term {
  readonly range: string;
  readonly startsAt?: Date | null | undefined;
}

/** A term as it is stored: nothing of it for what is held for good. @param now on the clock of the database */
export function termColumns(
  term: Term | null | undefined,
  now: Date,
): { temporaryRange: string | null; startsAt: Date | null; endsAt: Date | null } {
  if (term == null) return { temporaryRange: null, startsAt: null, endsAt: null };
  const startsAt = term.startsAt ?? now;
  return { temporaryRange: term.range, startsAt, endsAt: endOfTerm(startsAt, term.range) };
}
