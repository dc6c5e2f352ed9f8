import { sql } from 'kysely';
import { TARGETS } from './target-progress.sql.js';

/** Statements read at most so many records to tell how many are waiting. */
export const MOST_COUNTED = 10_000;

/** Columns of a target `x` that its job needs. */
export const TARGET_COLUMNS = [
  'x.id',
  'x.organization_id as organizationId',
  'x.is_enabled as isEnabled',
  sql<boolean>`coalesce(x.next_attempt_at > now(), false)`.as('isPausing'),
  'x.config_sealed as configSealed',
  'x.config_version as configVersion',
  'x.position',
  'x.position_index as positionIndex',
  'x.failures',
  'x.is_reset_pending as isResetPending',
  sql<Date>`now()`.as('now'),
] as const;

/** Columns of a target `x` that the API shows, with what waits for it: `behind`. */
export const SHOWN_COLUMNS = [
  ...TARGET_COLUMNS,
  'x.name',
  'x.origin',
  'x.next_attempt_at as nextAttemptAt',
  'x.last_success_at as lastSuccessAt',
  'x.last_failure_at as lastFailureAt',
  'x.last_failure as lastFailure',
  'x.last_status as lastStatus',
  'x.rewound_at as rewoundAt',
  'x.rejected_records as rejectedRecords',
  'x.created_at as createdAt',
  'x.updated_at as updatedAt',
  'behind.records as lagRecords',
  'behind.seconds as lagSeconds',
] as const;

/** Number and age of the records that wait for a target `x` of a table. */
export const behindOf = (table: keyof typeof TARGETS) =>
  sql<{ records: number; seconds: number }>`(
    select count(*)::integer as records, coalesce(extract(epoch from now() - min(w.occurred_at)), 0)::double precision as seconds
    from (
      select r.occurred_at from audit_record r where x.is_enabled and ${sql.raw(TARGETS[table].records)} and r.sequence > x.position
      order by r.sequence limit ${sql.raw(String(MOST_COUNTED))}
    ) w)`.as('behind');
