import { sqlStatement, t } from '../../../kernel/database/statement.js';

/** Statements read at most so many records to tell how many are waiting. */
export const MOST_COUNTED = 10_000;

/** Columns of a target `x` that its job needs. */
export const TARGET_COLUMNS = `x.id, x.organization_id as "organizationId", x.is_enabled as "isEnabled",
  coalesce(x.next_attempt_at > now(), false) as "isPausing", x.config_sealed as "configSealed", x.config_version as "configVersion",
  x.position, x.position_index as "positionIndex", x.failures, x.is_reset_pending as "isResetPending", now() as now`;

/** What they are. */
export const TARGET_ROW = {
  id: t.uuid,
  organizationId: t.uuid,
  isEnabled: t.boolean,
  isPausing: t.boolean,
  configSealed: t.bytea,
  configVersion: t.integer,
  position: t.bigint,
  positionIndex: t.integer,
  failures: t.integer,
  isResetPending: t.boolean,
  now: t.time,
} as const;

/** Columns of a target `x` that the API shows, with what waits for it: `behind`. */
export const SHOWN_COLUMNS = `x.name, x.origin, x.next_attempt_at as "nextAttemptAt", x.last_success_at as "lastSuccessAt",
  x.last_failure_at as "lastFailureAt", x.last_failure as "lastFailure", x.last_status as "lastStatus", x.rewound_at as "rewoundAt",
  x.rejected_records as "rejectedRecords", x.created_at as "createdAt", x.updated_at as "updatedAt",
  behind.records as "lagRecords", behind.seconds as "lagSeconds"`;

/** What they are. */
export const SHOWN_ROW = {
  name: t.text,
  origin: t.text,
  nextAttemptAt: t.nullable(t.time),
  lastSuccessAt: t.nullable(t.time),
  lastFailureAt: t.nullable(t.time),
  lastFailure: t.nullable(t.text),
  lastStatus: t.nullable(t.integer),
  rewoundAt: t.nullable(t.time),
  rejectedRecords: t.bigint,
  createdAt: t.time,
  updatedAt: t.time,
  lagRecords: t.integer,
  lagSeconds: t.double,
} as const;

/** Number and age of the records that wait for a target `x`. @param records which are meant for it: a condition on `r` */
export const behindOf = (records: string): string => `(
  select count(*)::integer as records, coalesce(extract(epoch from now() - min(w.occurred_at)), 0)::double precision as seconds
  from (
    select r.occurred_at from audit_record r where x.is_enabled and ${records} and r.sequence > x.position
    order by r.sequence limit ${MOST_COUNTED}
  ) w)`;

const POSITION_AFTER_ALL = 2_147_483_647;

/**
 * Makes the statement that lists targets with something to send whose pause is over. Others are marked as up to date once an hour, so
 * that what expires long before their next event is not taken for theirs.
 */
export const listingBehind = (table: string, { projectId, records }: { projectId: string; records: string }) => {
  const isBehind = `(x.position_index < ${POSITION_AFTER_ALL} or exists (
    select from audit_record r where ${records} and r.sequence > x.position and r.sequence <= :settled))`;
  return sqlStatement({
    text: `
      with idle as (
        update ${table} x set position = greatest(x.position, :settled), position_at = now()
        where x.is_enabled and x.position_at < now() - interval '1 hour' and not ${isBehind}
      )
      select x.id, x.organization_id as "organizationId", ${projectId} as "projectId" from ${table} x
      where x.is_enabled and (x.next_attempt_at is null or x.next_attempt_at <= now()) and ${isBehind}
      order by x.position_at, x.id limit 1000`,
    params: { settled: t.bigint },
    row: { id: t.uuid, organizationId: t.uuid, projectId: t.nullable(t.uuid) },
  });
};

/** Makes the statement that stores how far a target has received. */
export const advancing = (table: string) =>
  sqlStatement({
    text: `
      update ${table} set position = :position, position_index = :positionIndex, position_at = coalesce(:positionAt::timestamptz, now()),
        failures = case when :isDelivered::boolean then 0 else failures end,
        next_attempt_at = case when :isDelivered then null else next_attempt_at end,
        last_success_at = case when :isDelivered then now() else last_success_at end,
        is_reset_pending = is_reset_pending and not :isDelivered,
        rejected_records = rejected_records + :rejected::integer
      where id = :id`,
    params: {
      id: t.uuid,
      position: t.bigint,
      positionIndex: t.integer,
      positionAt: t.nullable(t.time),
      isDelivered: t.boolean,
      rejected: t.integer,
    },
    row: {},
  });

/** Makes the statement that stores a failed delivery, unless the target was changed meanwhile. */
export const failing = (table: string) =>
  sqlStatement({
    text: `
      update ${table} set failures = failures + 1, next_attempt_at = now() + make_interval(secs => :pauseSeconds), last_failure_at = now(),
        last_failure = :code, last_status = :status
      where id = :id and config_version = :configVersion`,
    params: {
      id: t.uuid,
      configVersion: t.integer,
      pauseSeconds: t.double,
      code: t.text,
      status: t.nullable(t.integer),
    },
    row: {},
  });

/**
 * Makes the statement that finds the newest expiration of records of the organization that were made after what a target has received.
 * Ask after reading: what is not there any more when it is read has such a record.
 */
export const findingMissed = (table: string) =>
  sqlStatement({
    text: `
      select r.sequence from ${table} x join audit_record r on r.organization_id = x.organization_id
      where x.id = :id and r.action = 'audit-trail:expire' and r.sequence > greatest(x.position, x.expiry_seen)
        and coalesce((r.facts ->> 'newest')::timestamptz > x.position_at, true)
      order by r.sequence desc limit 1`,
    params: { id: t.uuid },
    row: { sequence: t.bigint },
  });

/** Makes the statement that marks a target as having missed what expired. */
export const rewinding = (table: string) =>
  sqlStatement({
    text: `update ${table} set rewound_at = now(), expiry_seen = :seen, is_reset_pending = true where id = :id`,
    params: { id: t.uuid, seen: t.bigint },
    row: {},
  });

const measured = (kind: string, table: string, records: string): string => `
  select '${kind}' as kind, count(*)::integer as enabled, count(*) filter (where x.failures > 0)::integer as failing,
    coalesce(max(behind.seconds), 0) as "lagSeconds"
  from ${table} x left join lateral (
    select extract(epoch from now() - r.occurred_at)::double precision as seconds from audit_record r
    where ${records} and r.sequence > x.position order by r.sequence limit 1
  ) behind on true where x.is_enabled`;

/** Which records are meant for a webhook or a sink `x`. */
export const RECORDS_OF_WEBHOOK = `r.project_id = x.project_id and r.class = 'change'`;
export const RECORDS_OF_SINK = `r.organization_id = x.organization_id`;

/** How many targets of each kind exist and fail, and how far the last one of each kind is behind. */
export const measureTargets = sqlStatement({
  text: `${measured('change-webhook', 'change_webhook', RECORDS_OF_WEBHOOK)} union all ${measured('audit-sink', 'audit_sink', RECORDS_OF_SINK)}`,
  params: {},
  row: { kind: t.text, enabled: t.integer, failing: t.integer, lagSeconds: t.double },
});

/** How many targets are enabled. */
export const countEnabled = sqlStatement({
  text: `select ((select count(*) from change_webhook where is_enabled) + (select count(*) from audit_sink where is_enabled))::integer as enabled`,
  params: {},
  row: { enabled: t.integer },
});
