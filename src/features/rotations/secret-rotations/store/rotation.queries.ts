import { type RawBuilder, sql } from 'kysely';
import { anyOf, columnsIn, prepared, tablesOf } from '../../../../kernel/database/tables.js';
import type { WaitReason } from '../../../../kernel/jobs/job-kind.js';
import { type EnvironmentSchema, hasDisabledKey } from '../../../projects/public.js';
import type { FolderSchema } from '../../../secrets/public.js';
import type { AppConnectionSchema, UnresponsiveTargetSchema } from '../../app-connections/public.js';
import type { AttemptSchema } from './attempt.entity.js';
import type { DebtSchema } from './debt.entity.js';
import { SecretRotationSchema } from './rotation.entity.js';

type Located = typeof FolderSchema | typeof EnvironmentSchema;
type Connected = typeof AppConnectionSchema | typeof UnresponsiveTargetSchema;
type Rotations = typeof SecretRotationSchema | typeof AttemptSchema | typeof DebtSchema;
const tables = tablesOf<Rotations | Located | Connected>();

const located = tables
  .selectFrom('secret_rotation as r')
  .innerJoin('folder as f', 'f.id', 'r.folder_id')
  .innerJoin('environment as e', 'e.id', 'r.environment_id')
  .select(['f.path', 'e.slug as environment'])
  .orderBy(sql`r.name collate "C"`)
  .orderBy('r.id');

/** Whether a rotation `r` is due and can run. Null if it is not known when it is due. */
const IS_DUE = sql<boolean>`(r.is_auto_rotation_enabled and r.pause_reason is null and r.next_rotation_at <= now() or r.requested_at <= now())
      and r.status in ('success', 'failed')`;

/** Rotations with their folders, connections and the results of their last attempts; by name, then ID. */
const views = located
  .innerJoin('app_connection as c', 'c.id', 'r.connection_id')
  .leftJoin('secret_rotation_attempt as a', 'a.id', 'r.last_attempt_id')
  .leftJoin('unresponsive_target as u', (join) =>
    join.onRef('u.organization_id', '=', 'c.organization_id').onRef('u.target', '=', 'c.target'),
  )
  .select(columnsIn('r', SecretRotationSchema, 'accountDigest', 'passwordRule'))
  .select(['e.name as environmentName', 'c.app', 'c.name as connectionName', 'a.id as attemptId'])
  .select(['a.state', 'a.reason', 'a.error_code as errorCode', 'a.message_sealed as messageSealed'])
  .select(
    sql<WaitReason | null>`case
        when r.status <> 'in_progress' and (${IS_DUE}) is not true then null
        when ${sql.raw(hasDisabledKey('r.project_id'))} then 'KEY_DISABLED'
        when u.next_try_at is not null then 'TARGET_UNRESPONSIVE'
      end`.as('waitReason'),
  );

/** Views by ID, in any project. */
export const findRotationViews = prepared(({ ids }: { ids: readonly string[] }) =>
  views.where('r.id', '=', anyOf(ids)),
);
export type RotationView = Awaited<ReturnType<typeof findRotationViews>>[number];

/** Views of projects. */
export const listRotationViews = prepared(({ projectIds }: { projectIds: readonly string[] }) =>
  views.where('r.project_id', '=', anyOf(projectIds)),
);

/** Views of a connection. */
export const listViewsOfConnection = prepared(({ connectionId }: { connectionId: string }) =>
  views.where('r.connection_id', '=', connectionId),
);

/** Rotations that use connections, by name, then ID. */
export const listConnectionUses = prepared(({ connectionIds }: { connectionIds: readonly string[] }) =>
  located
    .select(['r.connection_id as connectionId', 'r.id as rotationId', 'r.name as rotationName', 'r.type'])
    .select('r.project_id as projectId')
    .where('r.connection_id', '=', anyOf(connectionIds)),
);

type Condition = RawBuilder<boolean>;

/** What holds something: rotations, and then credentials that are still to be revoked, also of deleted rotations. */
const holdsOf = (rotations: Condition, debts: Condition) =>
  tables
    .selectFrom(
      tables
        .selectFrom('secret_rotation')
        .select([
          sql<'rotation' | 'debt'>`'rotation'`.as('kind'),
          'id',
          'id as rotation_id',
          'connection_id',
          'project_id',
        ])
        .where(rotations)
        .unionAll(
          tables
            .selectFrom('credential_debt')
            .select([sql<'rotation' | 'debt'>`'debt'`.as('kind'), 'id', 'rotation_id', 'connection_id', 'project_id'])
            .where(debts),
        )
        .as('h'),
    )
    .leftJoin('secret_rotation as r', 'r.id', 'h.rotation_id')
    .leftJoin('environment as e', 'e.id', 'r.environment_id')
    .leftJoin('folder as f', 'f.id', 'r.folder_id')
    .select(['h.kind', 'h.id', 'h.rotation_id as rotationId', 'h.connection_id as connectionId'])
    .select(['h.project_id as projectId', 'r.name as rotationName', 'e.slug as environment', 'f.path'])
    .orderBy('h.kind', 'desc')
    .orderBy(sql`r.name collate "C"`)
    .orderBy('h.id');

/** What needs a connection. */
export const listConnectionHolds = prepared(({ connectionId }: { connectionId: string }) => {
  const isOfConnection = sql<boolean>`connection_id = ${connectionId}`;
  return holdsOf(isOfConnection, isOfConnection);
});

/** Rotations of an organization that own an account, or have published a credential of it, and what is still to be revoked of it. */
export const listAccountOwners = prepared((account: { organizationId: string; accountDigest: Buffer }) => {
  const isOfAccount = sql<boolean>`organization_id = ${account.organizationId} and account_digest = ${account.accountDigest}`;
  const own = sql<boolean>`id in (
    select id from secret_rotation where ${isOfAccount} union all select rotation_id from secret_rotation_credential where ${isOfAccount})`;
  return holdsOf(own, isOfAccount);
});

/** A page of what jobs are asked for: by ID, after this one. */
interface After {
  readonly after: string;
  readonly most: number;
}

const subjects = tables
  .selectFrom('secret_rotation as r')
  .innerJoin('app_connection as c', 'c.id', 'r.connection_id')
  .select(['r.id', 'r.organization_id as organizationId', 'r.project_id as projectId', 'c.target'])
  .orderBy('r.id');

/** IDs of rotations that are due and can run. */
export const listDueRotations = prepared(({ after, most }: After) =>
  subjects.where(IS_DUE).where('r.id', '>', after).limit(most),
);

/** Rotations with an attempt that began some time ago and that no job continues: its job was cancelled or has failed. */
export const listRotationsWithoutJob = prepared(({ kind, after, most }: After & { kind: string }) =>
  subjects
    .innerJoin('secret_rotation_attempt as a', 'a.rotation_id', 'r.id')
    .where('a.ended_at', 'is', null)
    .where('a.rotation_id', '>', after)
    .where('a.created_at', '<', sql<Date>`now() - interval '10 minutes'`)
    .where(
      sql<boolean>`not exists (
        select from job j where j.kind = ${kind} and j.dedupe_key = r.id::text and j.state in ('waiting', 'running'))`,
    )
    .limit(most),
);
