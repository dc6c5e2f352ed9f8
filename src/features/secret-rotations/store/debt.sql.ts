import { sqlStatement, t } from '../../../kernel/database/statement.js';
import { APPS } from '../../app-connections/public.js';
import { hasDisabledKey } from '../../projects/public.js';
import { ROTATION_TYPES } from '../kinds/kinds.js';
import { DEBT_REASONS } from './debt.entity.js';

/** Stores that a credential is to be revoked. */
export const insertDebt = sqlStatement({
  text: `
    insert into credential_debt (id, organization_id, project_id, rotation_id, connection_id, type, reason, parameters, name, credential_sealed,
      account_digest, settled_at)
    values (:id, :organizationId, :projectId, :rotationId, :connectionId, :type, :reason, :parameters::text::jsonb, :name, :credentialSealed,
      :accountDigest, now() + make_interval(secs => :settlesInSeconds::integer))`,
  params: {
    id: t.uuid,
    organizationId: t.uuid,
    projectId: t.uuid,
    rotationId: t.uuid,
    connectionId: t.uuid,
    type: t.oneOf(...ROTATION_TYPES),
    reason: t.oneOf(...DEBT_REASONS),
    parameters: t.text,
    name: t.nullable(t.text),
    credentialSealed: t.nullable(t.bytea),
    accountDigest: t.nullable(t.bytea),
    settlesInSeconds: t.integer,
  },
  row: {},
});

/** Whether the key of the project of a debt `d` is disabled. */
const IS_LOCKED = hasDisabledKey('d.project_id');

/** Due debts of a connection, oldest first, but for those that need a disabled key. */
export const listDueDebts = sqlStatement({
  text: `
    select id, organization_id as "organizationId", project_id as "projectId", rotation_id as "rotationId", connection_id as "connectionId", type,
      reason, parameters, name, credential_sealed as "credentialSealed", tries, coalesce(settled_at <= now(), true) as "isSettled"
    from credential_debt d where connection_id = :connectionId and next_at <= now() and not ${IS_LOCKED}
    order by next_at, id limit :most::integer`,
  params: { connectionId: t.uuid, most: t.integer },
  row: {
    id: t.uuid,
    organizationId: t.uuid,
    projectId: t.uuid,
    rotationId: t.uuid,
    connectionId: t.uuid,
    type: t.oneOf(...ROTATION_TYPES),
    reason: t.oneOf(...DEBT_REASONS),
    parameters: t.jsonOf<Readonly<Record<string, unknown>>>(),
    name: t.nullable(t.text),
    credentialSealed: t.nullable(t.bytea),
    tries: t.integer,
    isSettled: t.boolean,
  },
});

/** Seconds until a debt of a connection is due, null if none will be, and whether some need a disabled key. */
export const secondsToNextDebt = sqlStatement({
  text: `
    select case when bool_or(not is_locked)
        then greatest(0, extract(epoch from min(next_at) filter (where not is_locked) - now()))::double precision end as seconds,
      coalesce(bool_or(is_locked), false) as "hasLocked"
    from (select next_at, ${IS_LOCKED} as is_locked from credential_debt d where connection_id = :connectionId) debts`,
  params: { connectionId: t.uuid },
  row: { seconds: t.nullable(t.double), hasLocked: t.boolean },
});

/** Removes the debt of a credential that is known to be revoked, so that it no longer blocks its connection. */
export const settleDebt = sqlStatement({
  text: 'delete from credential_debt where id = :id returning id',
  params: { id: t.uuid },
  row: { id: t.uuid },
});

/** Postpones a debt whose credential is not known to be revoked. `isOverdue`: it is older than `patienceSeconds`. */
export const deferDebt = sqlStatement({
  text: `
    update credential_debt set tries = tries + 1, error_code = :errorCode, next_at = now() + make_interval(secs => :pauseSeconds)
    where id = :id and next_at <= now()
    returning created_at < now() - make_interval(secs => :patienceSeconds::integer) as "isOverdue"`,
  params: { id: t.uuid, pauseSeconds: t.double, errorCode: t.text, patienceSeconds: t.integer },
  row: { isOverdue: t.boolean },
});

/** The credential does not exist, but may still be created. */
export const awaitDebt = sqlStatement({
  text: 'update credential_debt set error_code = null, next_at = settled_at where id = :id',
  params: { id: t.uuid },
  row: {},
});

/** Of these rotations, those that have credentials to revoke before they are deleted. */
export const listOpenDeletions = sqlStatement({
  text: `select distinct rotation_id as id from credential_debt where rotation_id = any(:rotationIds) and reason = 'deletion'`,
  params: { rotationIds: t.array(t.uuid) },
  row: { id: t.uuid },
});

/** Credentials of a rotation to revoke for its deletion. `isWaiting`: an attempt failed and will be repeated. */
export const listDeletionDebts = sqlStatement({
  text: `
    select d.id, d.error_code as "errorCode", d.next_at > now() as "isWaiting" from credential_debt d join secret_rotation r on r.id = d.rotation_id
    where d.rotation_id = :rotationId and d.reason = 'deletion' order by d.id`,
  params: { rotationId: t.uuid },
  row: { id: t.uuid, errorCode: t.nullable(t.text), isWaiting: t.boolean },
});

/** Whether the revocation of a credential was given up, for the deletion of this rotation. The rotation and its debts may be gone. */
export const findGivenUp = sqlStatement({
  text: `
    select exists (
      select from audit_record where subject_id = :rotationId and action = 'secret-rotation:give-up-debt' and facts ->> 'reason' = 'deletion'
    ) as "isGivenUp"`,
  params: { rotationId: t.uuid },
  row: { isGivenUp: t.boolean },
});

/** Makes all debts of a rotation due now. */
export const hasten = sqlStatement({
  text: 'update credential_debt set next_at = now(), error_code = null where rotation_id = :rotationId',
  params: { rotationId: t.uuid },
  row: {},
});

/** Debts of an organization, newest first: all of them, or those that fit every filter that is not null. */
export const findDebts = sqlStatement({
  text: `
    select d.id, d.organization_id as "organizationId", d.project_id as "projectId", d.rotation_id as "rotationId", d.connection_id as "connectionId",
      d.type, d.reason, d.name, d.credential_sealed as "credentialSealed", d.tries,
      case when ${IS_LOCKED} then 'KEY_DISABLED' else d.error_code end as "errorCode", d.next_at as "nextAttemptAt",
      d.created_at as "createdAt", r.name as "rotationName", e.slug as environment, f.path, c.app, c.public_part as "publicPart"
    from credential_debt d join app_connection c on c.id = d.connection_id left join secret_rotation r on r.id = d.rotation_id
      left join environment e on e.id = r.environment_id left join folder f on f.id = r.folder_id
    where d.organization_id = :organizationId and (:ids::uuid[] is null or d.id = any(:ids)) and (:projectId::uuid is null or d.project_id = :projectId)
      and (:connectionId::uuid is null or d.connection_id = :connectionId) and (:rotationId::uuid is null or d.rotation_id = :rotationId)
    order by d.created_at desc, d.id desc`,
  params: {
    organizationId: t.uuid,
    ids: t.nullable(t.array(t.uuid)),
    projectId: t.nullable(t.uuid),
    connectionId: t.nullable(t.uuid),
    rotationId: t.nullable(t.uuid),
  },
  row: {
    id: t.uuid,
    organizationId: t.uuid,
    projectId: t.uuid,
    rotationId: t.uuid,
    connectionId: t.uuid,
    type: t.oneOf(...ROTATION_TYPES),
    reason: t.oneOf(...DEBT_REASONS),
    name: t.nullable(t.text),
    credentialSealed: t.nullable(t.bytea),
    tries: t.integer,
    errorCode: t.nullable(t.text),
    nextAttemptAt: t.time,
    createdAt: t.time,
    rotationName: t.nullable(t.text),
    environment: t.nullable(t.text),
    path: t.nullable(t.text),
    app: t.oneOf(...APPS),
    publicPart: t.jsonOf<object>(),
  },
});
/** No filter of `findDebts`. */
export const ANY_DEBT = { ids: null, projectId: null, connectionId: null, rotationId: null } as const;

export type DebtRow = Awaited<ReturnType<typeof findDebts>>[number];

/** Removes debts whose credentials nobody revokes any more. @returns those that were open */
export const forgetDebts = sqlStatement({
  text: 'delete from credential_debt where id = any(:ids) returning id',
  params: { ids: t.array(t.uuid) },
  row: { id: t.uuid },
});

/** Connections with credentials that should have been revoked some time ago, and that no job revokes. */
export const listDebtsWithoutJob = sqlStatement({
  text: `
    select distinct d.connection_id as id, d.organization_id as "organizationId" from credential_debt d
    where d.connection_id > :after and d.next_at < now() - interval '10 minutes' and not exists (
      select from job j where j.kind = :kind and j.dedupe_key = d.connection_id::text and j.state in ('waiting', 'running'))
    order by d.connection_id limit :most::integer`,
  params: { after: t.uuid, kind: t.text, most: t.integer },
  row: { id: t.uuid, organizationId: t.uuid },
});
