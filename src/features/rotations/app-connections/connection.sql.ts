import { sql } from 'kysely';
import { sqlStatement, t } from '../../../kernel/database/statement.js';
import { anyOf, columnsOf, prepared, tablesOf } from '../../../kernel/database/tables.js';
import { AppConnectionSchema } from './connection.entity.js';
import type { App } from './kinds.js';
import type { UnresponsiveTargetSchema } from './unresponsive-target.entity.js';

/** What is known of an external system that does not respond, with times as text. */
interface StoredUnresponsive {
  readonly since: string;
  readonly failures: number;
  readonly code: string;
  readonly nextTryAt: string;
}

const tables = tablesOf<typeof AppConnectionSchema | typeof UnresponsiveTargetSchema>();
const connections = tables
  .selectFrom('app_connection')
  .select(columnsOf(AppConnectionSchema, 'accountDigest', 'nextCheckAt'))
  .select(
    sql<StoredUnresponsive | null>`(select jsonb_build_object('since', u.since, 'failures', u.failures, 'code', u.error_code,
      'nextTryAt', u.next_try_at) from unresponsive_target u
      where u.organization_id = app_connection.organization_id and u.target = app_connection.target)`.as(
      'unresponsive',
    ),
  );
const inOrder = connections.orderBy(sql`lower(name) collate "C"`).orderBy('id');

/** Connections of an organization and its projects, by ID. */
export const findConnections = prepared(({ organizationId, ids }: { organizationId: string; ids: readonly string[] }) =>
  connections.where('organization_id', '=', organizationId).where('id', '=', anyOf(ids)),
);

/** A connection as read from the database, its secrets sealed. */
export type ConnectionRow = Awaited<ReturnType<typeof findConnections>>[number];

/** A connection of one app by name, of a project or of the organization itself. */
export const findConnectionByName = prepared(
  (key: { organizationId: string; projectId: string | null; app: App; name: string }) =>
    connections
      .where('organization_id', '=', key.organizationId)
      .where(sql<boolean>`project_id is not distinct from ${key.projectId}::uuid`)
      .where('app', '=', key.app)
      .where('name', '=', key.name),
);

/** Connections of an organization and its projects that log in to an account. */
export const findConnectionsOfAccount = prepared((filter: { organizationId: string; accountDigest: Buffer }) =>
  inOrder.where('organization_id', '=', filter.organizationId).where('account_digest', '=', filter.accountDigest),
);

/** Which connections of an organization: of one app, or of all. */
interface ConnectionFilter {
  readonly organizationId: string;
  readonly projectId: string | null;
  readonly app: string | null;
}

const ofApp = ({ organizationId, app }: ConnectionFilter) =>
  inOrder
    .where('organization_id', '=', organizationId)
    .where(sql<boolean>`(${app}::text is null or app = ${app}::text)`);

/** Connections by name, then ID: those of a project, or all of an organization. */
export const listConnections = prepared((filter: ConnectionFilter) =>
  ofApp(filter).where(sql<boolean>`(${filter.projectId}::uuid is null or project_id = ${filter.projectId}::uuid)`),
);

/** Connections of an organization itself and of one project, if given. */
export const listUsable = prepared((filter: ConnectionFilter) =>
  ofApp(filter).where(sql<boolean>`(project_id is null or project_id = ${filter.projectId}::uuid)`),
);

/**
 * Serializes what gets an account of an external system, until the transaction ends: a connection that logs in to it and a rotation that
 * owns it do not see one another before they are committed.
 */
export const lockAccount = prepared(({ digest }: { digest: Buffer }) =>
  tables.selectNoFrom(
    sql<string>`pg_advisory_xact_lock(hashtextextended('account ' || encode(${digest}, 'hex'), 0))::text`.as('lock'),
  ),
);

/** Forgets external systems that did not respond and that no connection leads to any more. */
export const deleteUnusedTargets = prepared(() =>
  tables
    .deleteFrom('unresponsive_target as u')
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('app_connection as c')
            .whereRef('c.organization_id', '=', 'u.organization_id')
            .whereRef('c.target', '=', 'u.target'),
        ),
      ),
    ),
);

// A queue that nodes share, and changes that decide by what a row was, or insert it.

/** Seconds between checks. */
const EVERY = 3_600;
/** Random jitter of ten percent, so that connections created together are not always checked together. */
export const NEXT_CHECK = `now() + make_interval(secs => ${EVERY} * (0.9 + 0.2 * random()))`;

/** Takes connections whose check is due, the longest overdue first, and schedules the next one. Skips those locked by another node. */
export const takeDueChecks = sqlStatement({
  text: `
    with due as materialized (
      select id from app_connection where next_check_at <= now() order by next_check_at, id limit :most::integer for update skip locked
    )
    update app_connection c set next_check_at = ${NEXT_CHECK} from due where c.id = due.id
    returning c.id, c.organization_id as "organizationId", c.project_id as "projectId", c.target`,
  params: { most: t.integer },
  row: { id: t.uuid, organizationId: t.uuid, projectId: t.nullable(t.uuid), target: t.text },
});

/**
 * Stores the result of a check, unless the credentials were replaced in the meantime. An unreachable target is failing only after several
 * checks in a row; a failing connection stays failing.
 *
 * @returns the previous state, and since when it is failing
 */
export const storeCheck = sqlStatement({
  text: `
    with before as (
      select id, check_state from app_connection
      where id = :id and organization_id = :organizationId and credentials_version = :credentialsVersion for update
    ), after as (
      update app_connection c set checked_at = now(), check_code = :code, account_digest = coalesce(:accountDigest, account_digest),
        check_failures = case when :code::text is null then 0 else c.check_failures + 1 end,
        check_state = case
          when :code::text is null then 'working'
          when :isRefusal::boolean or c.check_failures + 1 >= :patience::integer then 'failing'
          else c.check_state end,
        failing_since = case
          when :code::text is null then null
          when :isRefusal::boolean or c.check_failures + 1 >= :patience::integer then coalesce(c.failing_since, now())
          else c.failing_since end
      from before where c.id = before.id
      returning c.id, c.check_state, c.failing_since
    )
    select before.check_state as "stateBefore", after.check_state as state, after.failing_since as "failingSince"
    from before join after using (id)`,
  params: {
    id: t.uuid,
    organizationId: t.uuid,
    credentialsVersion: t.integer,
    code: t.nullable(t.text),
    isRefusal: t.boolean,
    accountDigest: t.nullable(t.bytea),
    patience: t.integer,
  },
  row: {
    stateBefore: t.oneOf('unchecked', 'working', 'failing'),
    state: t.oneOf('unchecked', 'working', 'failing'),
    failingSince: t.nullable(t.time),
  },
});

const FIRST_SECONDS = 30;
const LONGEST_SECONDS = 3_600;
/** Random jitter of ten percent. */
const JITTER = '(0.9 + 0.2 * random())';

/**
 * Whether an external system is known not to respond, and for how many seconds it is to be left alone. Whoever finds it due tries it: for
 * the others it is due again when that trial must have ended.
 */
export const claimProbe = sqlStatement({
  text: `
    with known as (
      select organization_id, target, next_try_at from unresponsive_target
      where organization_id = :organizationId and target = :target for update
    ), tried as (
      update unresponsive_target u set next_try_at = now() + make_interval(secs => :trialSeconds::integer) from known
      where u.organization_id = known.organization_id and u.target = known.target and known.next_try_at <= now()
    )
    select greatest(0, extract(epoch from next_try_at - now()))::double precision as seconds from known`,
  params: { organizationId: t.uuid, target: t.text, trialSeconds: t.integer },
  row: { seconds: t.double },
});

/**
 * Stores that an external system did not respond: it is left alone for a pause that doubles each time, or as long as it asked for. Calls
 * that were under way at the same time count as one.
 */
export const storeNoResponse = sqlStatement({
  text: `
    insert into unresponsive_target as u (organization_id, target, error_code, next_try_at)
    values (:organizationId, :target, :errorCode, now() + make_interval(secs => greatest(:retryAfterSeconds::integer, ${FIRST_SECONDS} * ${JITTER})))
    on conflict (organization_id, target) do update set failures = u.failures + 1, failed_at = now(), error_code = excluded.error_code,
      next_try_at = now() + make_interval(secs =>
        greatest(:retryAfterSeconds, least(${LONGEST_SECONDS}, ${FIRST_SECONDS} * 2 ^ least(u.failures, 20)) * ${JITTER}))
    where u.failed_at < now() - make_interval(secs => :tookSeconds::double precision)`,
  params: {
    organizationId: t.uuid,
    target: t.text,
    errorCode: t.text,
    retryAfterSeconds: t.integer,
    tookSeconds: t.double,
  },
  row: {},
});
