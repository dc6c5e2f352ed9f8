import { sql } from 'kysely';
import { TARGETS } from './target-progress.sql.js';

/** Statements read at most so many records to tell how many are waiting. */
export const MOST_COUNTED = 10_000;

/** What the clock of the database says of a target `x`. */
export const CLOCK = [
  sql<boolean>`coalesce(x.next_attempt_at > now(), false)`.as('isPausing'),
  sql<Date>`now()`.as('now'),
] as const;

/** Number and age of the records that wait for a target `x` of a table. */
export const behindOf = (table: keyof typeof TARGETS) =>
  sql<{ lagRecords: number; lagSeconds: number }>`(
    select count(*)::integer as "lagRecords",
      coalesce(extract(epoch from now() - min(w.occurred_at)), 0)::double precision as "lagSeconds"
    from (
      select r.occurred_at from audit_record r where x.is_enabled and ${sql.raw(TARGETS[table].records)} and r.sequence > x.position
      order by r.sequence limit ${sql.lit(MOST_COUNTED)}
    ) w)`.as('behind');
