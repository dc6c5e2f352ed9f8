import { LockMode } from '@mikro-orm/core';
import { type RawBuilder, sql } from 'kysely';
import type { Transaction } from '../../../../kernel/context.js';
import { sqlStatement, t } from '../../../../kernel/database/statement.js';
import { anyOf, columnsIn, prepared, tablesOf } from '../../../../kernel/database/tables.js';
import type { WaitReason } from '../../../../kernel/jobs/job-kind.js';
import { type EnvironmentSchema, hasDisabledKey } from '../../../projects/public.js';
import type { FolderSchema } from '../../../secrets/public.js';
import { APPS, type AppConnectionSchema, type UnresponsiveTargetSchema } from '../../app-connections/public.js';
import { ROTATION_TYPES } from '../kinds/kinds.js';
import type { AttemptSchema } from './attempt.entity.js';
import type { PendingRevocationSchema } from './pending-revocation.entity.js';
import { SecretRotation, SecretRotationSchema } from './rotation.entity.js';

// Unions of what may be valid in external systems, lateral joins of JSON, and an update of many rows by their places.

/**
 * Credentials that may be valid in external systems, newest first: published ones, and what attempts may have created whose result is
 * not published. Of a project also those that are still to be revoked.
 *
 * @param overlapping types whose replaced credential stays valid until the next rotation
 */
export const listLiveCredentials = sqlStatement({
  text: `
    select l.type, l."table", l."column", l.row_id as "rowId", l.row_version as "rowVersion", l.sealed, l.name, l.project_id as "projectId",
      l.connection_id as "connectionId", e.slug as environment, f.path, c.app, c.public_part as "publicPart", count(*) over ()::integer as total
    from (
      select r.id as rotation_id, r.project_id, r.connection_id, r.type, 'secret_rotation_credential' as "table", 'credential' as "column",
        s.rotation_id as row_id, s.generation as row_version, s.credential_sealed as sealed, null as name, s.created_at
      from secret_rotation r join secret_rotation_credential s on s.rotation_id = r.id
      where s.slot = r.active_index or r.type = any(:overlapping::text[])
      union all
      select r.id, r.project_id, r.connection_id, r.type, 'secret_rotation_attempt', case when a.result_sealed is null then 'candidate' else 'result' end,
        a.id, a.candidate_version, coalesce(a.result_sealed, a.candidate_sealed), null, a.created_at
      from secret_rotation r join secret_rotation_attempt a on a.rotation_id = r.id
      where a.ended_at is null and a.state <> 'planned' or a.id = r.last_attempt_id and a.state = 'undecided'
      union all
      select d.rotation_id, d.project_id, d.connection_id, d.type, 'credential_debt', 'credential', d.id, 1, d.credential_sealed, d.name, d.created_at
      from credential_debt d where :rotationId::uuid is null
    ) l join app_connection c on c.id = l.connection_id left join secret_rotation r on r.id = l.rotation_id
      left join environment e on e.id = r.environment_id left join folder f on f.id = r.folder_id
    where l.project_id = :projectId and (:rotationId::uuid is null or l.rotation_id = :rotationId)
    order by l.created_at desc, l.row_id, l.row_version limit :most::integer`,
  params: { projectId: t.uuid, rotationId: t.nullable(t.uuid), overlapping: t.array(t.text), most: t.integer },
  row: {
    type: t.oneOf(...ROTATION_TYPES),
    table: t.oneOf('secret_rotation_credential', 'secret_rotation_attempt', 'credential_debt'),
    column: t.oneOf('credential', 'candidate', 'result'),
    rowId: t.uuid,
    rowVersion: t.integer,
    sealed: t.nullable(t.bytea),
    name: t.nullable(t.text),
    projectId: t.uuid,
    connectionId: t.uuid,
    environment: t.nullable(t.text),
    path: t.nullable(t.text),
    app: t.oneOf(...APPS),
    publicPart: t.jsonOf<object>(),
    total: t.integer,
  },
});

const NAMED = `jsonb_to_recordset(r.schedule -> 'apart') as named ("rotationId" uuid, minutes integer)`;

/** Last and next runs of the rotations that a rotation must keep a distance from: those that it names, and those that name it. */
export const listDistances = sqlStatement({
  text: `
    select times.at, pair.minutes
    from (
      select named."rotationId" as id, named.minutes from secret_rotation r cross join lateral ${NAMED} where r.id = :id
      union all
      select r.id, named.minutes from secret_rotation r cross join lateral ${NAMED} where r.project_id = :projectId and named."rotationId" = :id
    ) pair join secret_rotation other on other.id = pair.id and other.project_id = :projectId
      cross join lateral (values (other.next_rotation_at), (other.last_attempted_at)) as times (at)
    where times.at is not null`,
  params: { id: t.uuid, projectId: t.uuid },
  row: { at: t.nullable(t.time), minutes: t.integer },
});

/** Schedules rotations one after the other, a number of seconds apart. @returns those that can run */
export const requestRotations = sqlStatement({
  text: `
    update secret_rotation r
    set requested_at = now() + make_interval(secs => (wanted.place - 1) * :staggerSeconds::integer), requester_kind = :actorKind, requester_id = :actorId
    from unnest(:ids::uuid[]) with ordinality as wanted (id, place), app_connection c
    where r.id = wanted.id and c.id = r.connection_id and r.status in ('success', 'failed')
    returning r.id, r.organization_id as "organizationId", r.project_id as "projectId", r.requested_at as "dueAt", c.target`,
  params: { ids: t.array(t.uuid), staggerSeconds: t.integer, actorKind: t.text, actorId: t.uuid },
  row: { id: t.uuid, organizationId: t.uuid, projectId: t.uuid, dueAt: t.nullable(t.time), target: t.text },
});

type Located = typeof FolderSchema | typeof EnvironmentSchema;
type Connected = typeof AppConnectionSchema | typeof UnresponsiveTargetSchema;
type Rotations = typeof SecretRotationSchema | typeof AttemptSchema | typeof PendingRevocationSchema;
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
const holdsOf = (rotations: Condition, revocations: Condition) =>
  tables
    .selectFrom(
      tables
        .selectFrom('secret_rotation')
        .select([
          sql<'rotation' | 'revocation'>`'rotation'`.as('kind'),
          'id',
          'id as rotation_id',
          'connection_id',
          'project_id',
        ])
        .where(rotations)
        .unionAll(
          tables
            .selectFrom('credential_debt')
            .select([
              sql<'rotation' | 'revocation'>`'revocation'`.as('kind'),
              'id',
              'rotation_id',
              'connection_id',
              'project_id',
            ])
            .where(revocations),
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

/** Locks a rotation until the transaction ends; null if it was deleted. Every change locks the rotation before its attempt. */
export const lockRotation = (tx: Transaction, id: string): Promise<SecretRotation | null> =>
  tx.em.findOne(SecretRotation, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
