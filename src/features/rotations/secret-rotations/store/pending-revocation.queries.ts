import { sql } from 'kysely';
import { anyOf, columnsIn, prepared, tablesOf } from '../../../../kernel/database/tables.js';
import { type EnvironmentSchema, hasDisabledKey } from '../../../projects/public.js';
import type { FolderSchema } from '../../../secrets/public.js';
import type { AppConnectionSchema } from '../../app-connections/public.js';
import { PendingRevocationSchema } from './pending-revocation.entity.js';
import type { SecretRotationSchema } from './rotation.entity.js';

type Schemas = typeof PendingRevocationSchema | typeof SecretRotationSchema | typeof AppConnectionSchema;
const tables = tablesOf<Schemas | typeof FolderSchema | typeof EnvironmentSchema>();

/** Whether the key of the project of a pending revocation `d` is disabled. */
const IS_LOCKED = sql<boolean>`${sql.raw(hasDisabledKey('d.project_id'))}`;

/** Pending revocations with the connection that they need and the rotation that left them, newest first. */
const pendingRevocations = tables
  .selectFrom('credential_debt as d')
  .innerJoin('app_connection as c', 'c.id', 'd.connection_id')
  .leftJoin('secret_rotation as r', 'r.id', 'd.rotation_id')
  .leftJoin('environment as e', 'e.id', 'r.environment_id')
  .leftJoin('folder as f', 'f.id', 'r.folder_id')
  .select(columnsIn('d', PendingRevocationSchema, 'parameters', 'accountDigest', 'errorCode', 'settledAt', 'nextAt'))
  .select(sql<string | null>`case when ${IS_LOCKED} then 'KEY_DISABLED' else d.error_code end`.as('errorCode'))
  .select(['d.next_at as nextAttemptAt', 'r.name as rotationName', 'e.slug as environment', 'f.path'])
  .select(['c.app', 'c.public_part as publicPart'])
  .orderBy('d.created_at', 'desc')
  .orderBy('d.id', 'desc');

/** Pending revocations of an organization by ID. */
export const findPendingRevocations = prepared(
  ({ organizationId, ids }: { organizationId: string; ids: readonly string[] }) =>
    pendingRevocations.where('d.organization_id', '=', organizationId).where('d.id', '=', anyOf(ids)),
);
export type PendingRevocationRow = Awaited<ReturnType<typeof findPendingRevocations>>[number];

/** Which pending revocations of an organization: those that fit every filter that is not null. */
interface PendingRevocationFilter {
  readonly organizationId: string;
  readonly projectId: string | null;
  readonly connectionId: string | null;
}

export const listPendingRevocations = prepared(({ organizationId, projectId, connectionId }: PendingRevocationFilter) =>
  pendingRevocations
    .where('d.organization_id', '=', organizationId)
    .where(sql<boolean>`(${projectId}::uuid is null or d.project_id = ${projectId})`)
    .where(sql<boolean>`(${connectionId}::uuid is null or d.connection_id = ${connectionId})`),
);

/** Pending revocations of a rotation that are revoked for its deletion. */
export const listRevocationsOfDeletion = prepared(({ rotationId }: { rotationId: string }) =>
  pendingRevocations.where('d.rotation_id', '=', rotationId).where('d.reason', '=', 'deletion'),
);

/** Which pending revocations of a connection a job revokes: so many, and those that are `isOverdue` after so many seconds. */
interface DueRevocations {
  readonly connectionId: string;
  readonly patienceSeconds: number;
  readonly most: number;
}

/** Due pending revocations of a connection, oldest first, but for those that need a disabled key. */
export const listDueRevocations = prepared(({ connectionId, patienceSeconds, most }: DueRevocations) =>
  tables
    .selectFrom('credential_debt as d')
    .select(columnsIn('d', PendingRevocationSchema, 'accountDigest', 'errorCode', 'settledAt', 'nextAt', 'createdAt'))
    .select([
      sql<boolean>`coalesce(d.settled_at <= now(), true)`.as('isSettled'),
      sql<boolean>`d.created_at < now() - make_interval(secs => ${patienceSeconds}::integer)`.as('isOverdue'),
    ])
    .where('d.connection_id', '=', connectionId)
    .where('d.next_at', '<=', sql<Date>`now()`)
    .where(({ not }) => not(IS_LOCKED))
    .orderBy('d.next_at')
    .orderBy('d.id')
    .limit(most),
);

/** Seconds until a pending revocation of a connection is due, null if none will be, and whether some need a disabled key. */
export const secondsToNextRevocation = prepared(({ connectionId }: { connectionId: string }) =>
  tables
    .selectFrom(
      tables
        .selectFrom('credential_debt as d')
        .select(['d.next_at', IS_LOCKED.as('is_locked')])
        .where('d.connection_id', '=', connectionId)
        .as('revocations'),
    )
    .select([
      sql<number | null>`case when bool_or(not is_locked)
        then greatest(0, extract(epoch from min(next_at) filter (where not is_locked) - now()))::double precision end`.as(
        'seconds',
      ),
      sql<boolean>`coalesce(bool_or(is_locked), false)`.as('hasLocked'),
    ]),
);

/** Removes pending revocations whose credentials nobody revokes any more. @returns those that were open */
export const deletePendingRevocations = prepared(({ ids }: { ids: readonly string[] }) =>
  tables.deleteFrom('credential_debt').where('id', '=', anyOf(ids)).returning('id'),
);

/** Connections with credentials that should have been revoked some time ago, and that no job revokes. */
export const listConnectionsWithoutRevocationJob = prepared((page: { kind: string; after: string; most: number }) =>
  tables
    .selectFrom('credential_debt as d')
    .select(['d.connection_id as id', 'd.organization_id as organizationId'])
    .distinct()
    .where('d.connection_id', '>', page.after)
    .where('d.next_at', '<', sql<Date>`now() - interval '10 minutes'`)
    .where(
      sql<boolean>`not exists (
        select from job j where j.kind = ${page.kind} and j.dedupe_key = d.connection_id::text and j.state in ('waiting', 'running'))`,
    )
    .orderBy('d.connection_id')
    .limit(page.most),
);
