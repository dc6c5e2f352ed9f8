import { sql } from 'kysely';
import { anyOf, prepared, tablesOf } from '../../kernel/database/tables.js';
import type { AppConnectionSchema } from './connection.entity.js';
import type { CheckState } from './connection.rules.js';
import type { App } from './kinds.js';

/** What is known of an external system that does not respond, with times as text. */
interface StoredUnresponsive {
  readonly since: string;
  readonly failures: number;
  readonly code: string;
  readonly nextTryAt: string;
}

const connections = tablesOf<typeof AppConnectionSchema>()
  .selectFrom('app_connection')
  .select([
    'id',
    'organization_id as organizationId',
    'project_id as projectId',
    sql<App>`app`.as('app'),
    'method',
    'name',
    'description',
    'version',
    sql<object>`public_part`.as('publicPart'),
    'target',
    'credentials_sealed as credentialsSealed',
    'credentials_version as credentialsVersion',
    'credentials_hash as credentialsHash',
    sql<CheckState>`check_state`.as('checkState'),
    'check_code as checkCode',
    'checked_at as checkedAt',
    'failing_since as failingSince',
    'check_failures as checkFailures',
    sql<StoredUnresponsive | null>`(select jsonb_build_object('since', u.since, 'failures', u.failures, 'code', u.error_code,
      'nextTryAt', u.next_try_at) from unresponsive_target u
      where u.organization_id = app_connection.organization_id and u.target = app_connection.target)`.as(
      'unresponsive',
    ),
    'created_at as createdAt',
    'updated_at as updatedAt',
  ]);

/** Connections of an organization and its projects, by ID. */
export const findConnections = prepared(({ organizationId, ids }: { organizationId: string; ids: readonly string[] }) =>
  connections.where('organization_id', '=', organizationId).where('id', '=', anyOf(ids)),
);

/** A connection as read from the database, its secrets sealed. */
export type ConnectionRow = Awaited<ReturnType<typeof findConnections>>[number];

/** A connection of one app by name, of a project or of the organization itself. */
export const findConnectionByName = prepared(
  (named: { organizationId: string; projectId: string | null; app: string; name: string }) =>
    connections
      .where('organization_id', '=', named.organizationId)
      .where(sql<boolean>`project_id is not distinct from ${named.projectId}::uuid`)
      .where('app', '=', named.app)
      .where('name', '=', named.name),
);

/** Connections of an organization and its projects that log in to an account. */
export const findConnectionsOfAccount = prepared((wanted: { organizationId: string; accountDigest: Buffer }) =>
  connections
    .where('organization_id', '=', wanted.organizationId)
    .where('account_digest', '=', wanted.accountDigest)
    .orderBy(sql`lower(name) collate "C"`)
    .orderBy('id'),
);

/** Connections by name, then ID: those of a project, or all of an organization; of one app or of all. */
export const listConnections = prepared(
  (wanted: { organizationId: string; projectId: string | null; app: string | null }) =>
    connections
      .where('organization_id', '=', wanted.organizationId)
      .where(sql<boolean>`(${wanted.projectId}::uuid is null or project_id = ${wanted.projectId}::uuid)`)
      .where(sql<boolean>`(${wanted.app}::text is null or app = ${wanted.app}::text)`)
      .orderBy(sql`lower(name) collate "C"`)
      .orderBy('id'),
);

/** Connections of an organization itself and of one project, if given. */
export const listUsable = prepared((wanted: { organizationId: string; projectId: string | null; app: string | null }) =>
  connections
    .where('organization_id', '=', wanted.organizationId)
    .where(sql<boolean>`(project_id is null or project_id = ${wanted.projectId}::uuid)`)
    .where(sql<boolean>`(${wanted.app}::text is null or app = ${wanted.app}::text)`)
    .orderBy(sql`lower(name) collate "C"`)
    .orderBy('id'),
);
