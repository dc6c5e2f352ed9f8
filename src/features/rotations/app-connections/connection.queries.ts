import { sql } from 'kysely';
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
  (named: { organizationId: string; projectId: string | null; app: App; name: string }) =>
    connections
      .where('organization_id', '=', named.organizationId)
      .where(sql<boolean>`project_id is not distinct from ${named.projectId}::uuid`)
      .where('app', '=', named.app)
      .where('name', '=', named.name),
);

/** Connections of an organization and its projects that log in to an account. */
export const findConnectionsOfAccount = prepared((wanted: { organizationId: string; accountDigest: Buffer }) =>
  inOrder.where('organization_id', '=', wanted.organizationId).where('account_digest', '=', wanted.accountDigest),
);

/** Which connections of an organization: of one app, or of all. */
interface Wanted {
  readonly organizationId: string;
  readonly projectId: string | null;
  readonly app: string | null;
}

const ofApp = ({ organizationId, app }: Wanted) =>
  inOrder
    .where('organization_id', '=', organizationId)
    .where(sql<boolean>`(${app}::text is null or app = ${app}::text)`);

/** Connections by name, then ID: those of a project, or all of an organization. */
export const listConnections = prepared((wanted: Wanted) =>
  ofApp(wanted).where(sql<boolean>`(${wanted.projectId}::uuid is null or project_id = ${wanted.projectId}::uuid)`),
);

/** Connections of an organization itself and of one project, if given. */
export const listUsable = prepared((wanted: Wanted) =>
  ofApp(wanted).where(sql<boolean>`(project_id is null or project_id = ${wanted.projectId}::uuid)`),
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
export const forgetUnusedTargets = prepared(() =>
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
