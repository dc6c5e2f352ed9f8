import { sql } from 'kysely';
import { sqlStatement, sqlVariants, t } from '../../../../kernel/database/statement.js';

// Statements that are made for each table of targets, and read the records behind the positions of many.

/** Which records `r` are meant for a target `x` of a table, and its project. */
export const TARGETS = {
  change_webhook: { records: `r.project_id = x.project_id and r.class = 'change'`, projectId: 'x.project_id' },
  audit_sink: { records: 'r.organization_id = x.organization_id', projectId: 'null::uuid' },
} as const;

const OPTIONS = { table: ['change_webhook', 'audit_sink'] } as const;
const POSITION_AFTER_ALL = 2_147_483_647;

const isBehind = (records: string): string => `(x.position_index < ${POSITION_AFTER_ALL} or exists (
    select from audit_record r where ${records} and r.sequence > x.position and r.sequence <= :settled))`;

/**
 * Targets with something to send whose pause is over. Others are marked as up to date once an hour, so that what expires long before
 * their next event is not taken for theirs.
 */
export const listBehind = sqlVariants({
  options: OPTIONS,
  text: ({ table }) => `
    with idle as (
      update ${table} x set position = greatest(x.position, :settled), position_at = now()
      where x.is_enabled and x.position_at < now() - interval '1 hour' and not ${isBehind(TARGETS[table].records)}
    )
    select x.id, x.organization_id as "organizationId", ${TARGETS[table].projectId} as "projectId" from ${table} x
    where x.is_enabled and (x.next_attempt_at is null or x.next_attempt_at <= now()) and ${isBehind(TARGETS[table].records)}
    order by x.position_at, x.id limit 1000`,
  params: { settled: t.bigint },
  row: { id: t.uuid, organizationId: t.uuid, projectId: t.nullable(t.uuid) },
});

/**
 * The newest expiration of records of the organization that were made after what a target has received. Ask after reading: what is not
 * there any more when it is read has such a record.
 */
export const findExpiredUnsent = sqlVariants({
  options: OPTIONS,
  text: ({ table }) => `
    select r.sequence from ${table} x join audit_record r on r.organization_id = x.organization_id
    where x.id = :id and r.action = 'audit-trail:expire' and r.sequence > greatest(x.position, x.expiry_seen)
      and coalesce((r.facts ->> 'newest')::timestamptz > x.position_at, true)
    order by r.sequence desc limit 1`,
  params: { id: t.uuid },
  row: { sequence: t.bigint },
});

const measured = (kind: string, table: keyof typeof TARGETS): string => `
  select '${kind}' as kind, count(*)::integer as enabled, count(*) filter (where x.failures > 0)::integer as failing,
    coalesce(max(behind.seconds), 0) as "lagSeconds"
  from ${table} x left join lateral (
    select extract(epoch from now() - r.occurred_at)::double precision as seconds from audit_record r
    where ${TARGETS[table].records} and r.sequence > x.position order by r.sequence limit 1
  ) behind on true where x.is_enabled`;

/** How many targets of each kind exist and fail, and how far the last one of each kind is behind. */
export const measureTargets = sqlStatement({
  text: `${measured('change-webhook', 'change_webhook')} union all ${measured('audit-sink', 'audit_sink')}`,
  params: {},
  row: { kind: t.text, enabled: t.integer, failing: t.integer, lagSeconds: t.double },
});

/** How many targets are enabled. */
export const countEnabled = sqlStatement({
  text: `select ((select count(*) from change_webhook where is_enabled) + (select count(*) from audit_sink where is_enabled))::integer as enabled`,
  params: {},
  row: { enabled: t.integer },
});

/** Statements read at most so many records to tell how many are waiting. */
export const MOST_COUNTED = 10_000;

/** What the clock of the database says of a target `x`. */
export const CLOCK = [
  sql<boolean>`coalesce(x.next_attempt_at > now(), false)`.as('isPausing'),
  sql<Date>`now()`.as('now'),
] as const;

/** Number and age of the records that wait for a target `x` of a table. */
export const lagOf = (table: keyof typeof TARGETS) =>
  sql<{ lagRecords: number; lagSeconds: number }>`(
    select count(*)::integer as "lagRecords",
      coalesce(extract(epoch from now() - min(w.occurred_at)), 0)::double precision as "lagSeconds"
    from (
      select r.occurred_at from audit_record r where x.is_enabled and ${sql.raw(TARGETS[table].records)} and r.sequence > x.position
      order by r.sequence limit ${sql.lit(MOST_COUNTED)}
    ) w)`.as('behind');
