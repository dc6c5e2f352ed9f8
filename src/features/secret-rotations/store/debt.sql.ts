import { sqlStatement, t } from '../../../kernel/database/statement.js';
import { ROTATION_TYPES } from '../kinds/kinds.js';
import { DEBT_REASONS } from './debt.entity.js';

/** Stores that a credential is to be revoked. */
export const insertDebt = sqlStatement({
  text: `
    insert into credential_debt (id, organization_id, project_id, rotation_id, connection_id, type, reason, parameters, name, credential_sealed,
      settled_at)
    values (:id, :organizationId, :projectId, :rotationId, :connectionId, :type, :reason, :parameters::text::jsonb, :name, :credentialSealed,
      now() + make_interval(secs => :settlesInSeconds::integer))`,
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
    settlesInSeconds: t.integer,
  },
  row: {},
});

/** Due debts of a connection, oldest first. */
export const listDueDebts = sqlStatement({
  text: `
    select id, organization_id as "organizationId", project_id as "projectId", rotation_id as "rotationId", connection_id as "connectionId", type,
      reason, parameters, name, credential_sealed as "credentialSealed", tries, coalesce(settled_at <= now(), true) as "isSettled"
    from credential_debt where connection_id = :connectionId and next_at <= now()
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

/** Seconds until a debt of a connection is due. */
export const secondsToNextDebt = sqlStatement({
  text: `
    select greatest(0, extract(epoch from min(next_at) - now()))::double precision as seconds
    from credential_debt where connection_id = :connectionId having min(next_at) is not null`,
  params: { connectionId: t.uuid },
  row: { seconds: t.nullable(t.double) },
});

/** Removes the debt of a credential that is known to be revoked, so that it no longer blocks its connection. */
export const settleDebt = sqlStatement({
  text: 'delete from credential_debt where id = :id returning id',
  params: { id: t.uuid },
  row: { id: t.uuid },
});

/** Postpones debts whose credentials are not known to be revoked. */
export const deferDebts = sqlStatement({
  text: `
    update credential_debt d set tries = d.tries + 1, error_code = :errorCode, next_at = now() + make_interval(secs => later.pause)
    from unnest(:ids::uuid[], :pauses::double precision[]) as later (id, pause)
    where d.id = later.id and d.next_at <= now()`,
  params: { ids: t.array(t.uuid), pauses: t.array(t.double), errorCode: t.text },
  row: {},
});

/** The credential does not exist, but may still be created. */
export const awaitDebt = sqlStatement({
  text: 'update credential_debt set error_code = null, next_at = settled_at where id = :id',
  params: { id: t.uuid },
  row: {},
});

/** Number of credentials of a rotation that is being deleted that are still to be revoked. */
export const countOpenDeletions = sqlStatement({
  text: `select count(*)::integer as count from credential_debt where rotation_id = :rotationId and reason = 'deletion'`,
  params: { rotationId: t.uuid },
  row: { count: t.integer },
});

/** Credentials of a rotation to revoke for its deletion. `isWaiting`: an attempt failed and will be repeated. */
export const listDeletionDebts = sqlStatement({
  text: `
    select d.id, d.error_code as "errorCode", d.next_at > now() as "isWaiting" from credential_debt d join secret_rotation r on r.id = d.rotation_id
    where d.rotation_id = :rotationId and d.reason = 'deletion' order by d.id`,
  params: { rotationId: t.uuid },
  row: { id: t.uuid, errorCode: t.nullable(t.text), isWaiting: t.boolean },
});

/** Makes all debts of a rotation due now. */
export const hasten = sqlStatement({
  text: 'update credential_debt set next_at = now(), error_code = null where rotation_id = :rotationId',
  params: { rotationId: t.uuid },
  row: {},
});

/** One page of the debts of a project, newest first. */
export const listDebts = sqlStatement({
  text: `
    select id, project_id as "projectId", rotation_id as "rotationId", connection_id as "connectionId", type, reason, tries,
      error_code as "errorCode", next_at as "nextAttemptAt", created_at as "createdAt"
    from credential_debt
    where project_id = :projectId
      and (:time::text is null or (created_at, id) < (:time::text::timestamptz, :afterId::uuid))
    order by created_at desc, id desc limit :limit::integer`,
  params: {
    projectId: t.uuid,
    time: t.nullable(t.text),
    afterId: t.nullable(t.uuid),
    limit: t.nullable(t.integer),
  },
  row: {
    id: t.uuid,
    projectId: t.uuid,
    rotationId: t.uuid,
    connectionId: t.uuid,
    type: t.oneOf(...ROTATION_TYPES),
    reason: t.oneOf(...DEBT_REASONS),
    tries: t.integer,
    errorCode: t.nullable(t.text),
    nextAttemptAt: t.time,
    createdAt: t.time,
  },
});
export type DebtRow = Awaited<ReturnType<typeof listDebts>>[number];
