import { sqlStatement, t } from '../../../kernel/database/statement.js';
import { ATTEMPT_REASONS } from './attempt.entity.js';
import { ATTEMPT_STATES } from './states.js';

const COLUMNS = `a.id, a.organization_id as "organizationId", a.project_id as "projectId", a.rotation_id as "rotationId", a.number, a.reason,
  a.state, a.calls, a.candidate_version as "candidateVersion", a.name, a.candidate_sealed as "candidateSealed", a.result_sealed as "resultSealed", a.temporary_sealed as "temporarySealed",
  a.tries, a.called_at as "calledAt", a.error_code as "errorCode", a.message_sealed as "messageSealed", a.actor_kind as "actorKind",
  a.actor_id as "actorId", a.created_at as "createdAt", a.ended_at as "endedAt"`;

const ROW = {
  id: t.uuid,
  organizationId: t.uuid,
  projectId: t.uuid,
  rotationId: t.nullable(t.uuid),
  number: t.integer,
  reason: t.oneOf(...ATTEMPT_REASONS),
  state: t.oneOf(...ATTEMPT_STATES),
  calls: t.integer,
  candidateVersion: t.integer,
  name: t.text,
  candidateSealed: t.bytea,
  resultSealed: t.nullable(t.bytea),
  temporarySealed: t.nullable(t.bytea),
  tries: t.integer,
  calledAt: t.nullable(t.time),
  errorCode: t.nullable(t.text),
  messageSealed: t.nullable(t.bytea),
  actorKind: t.oneOf('identity', 'user', 'system'),
  actorId: t.uuid,
  createdAt: t.time,
  endedAt: t.nullable(t.time),
} as const;

/** Inserts an attempt. @returns no row if another open attempt changes the same account */
export const insertAttempt = sqlStatement({
  text: `
    insert into secret_rotation_attempt (id, organization_id, project_id, rotation_id, number, reason, state, name, candidate_sealed, result_sealed,
      temporary_sealed, exclusive, actor_kind, actor_id)
    values (:id, :organizationId, :projectId, :rotationId, :number, :reason, :state, :name, :candidateSealed, :resultSealed, :temporarySealed,
      :exclusive, :actorKind, :actorId)
    on conflict (exclusive) where ended_at is null do nothing
    returning id`,
  params: {
    id: t.uuid,
    organizationId: t.uuid,
    projectId: t.uuid,
    rotationId: t.uuid,
    number: t.integer,
    reason: t.oneOf(...ATTEMPT_REASONS),
    state: t.oneOf(...ATTEMPT_STATES),
    name: t.text,
    candidateSealed: t.bytea,
    resultSealed: t.nullable(t.bytea),
    temporarySealed: t.nullable(t.bytea),
    exclusive: t.nullable(t.bytea),
    actorKind: t.text,
    actorId: t.uuid,
  },
  row: { id: t.uuid },
});

/** Attempts by ID, of any rotation. */
export const findAttempts = sqlStatement({
  text: `select ${COLUMNS} from secret_rotation_attempt a where a.id = any(:ids)`,
  params: { ids: t.array(t.uuid) },
  row: ROW,
});
export type AttemptRow = Awaited<ReturnType<typeof findAttempts>>[number];

/** The open attempts of rotations. */
export const findOpenAttempts = sqlStatement({
  text: `select ${COLUMNS} from secret_rotation_attempt a where a.ended_at is null and a.rotation_id = any(:rotationIds)`,
  params: { rotationIds: t.array(t.uuid) },
  row: ROW,
});

/**
 * Moves an attempt from one of these states. Null keeps a value, except for the error, which is that of this move.
 *
 * @returns no row if it is in none of them: it was moved concurrently
 */
export const moveAttempt = sqlStatement({
  text: `
    update secret_rotation_attempt set state = :state, calls = calls + case when :state = 'calling' and state = 'planned' then 1 else 0 end,
      candidate_version = candidate_version + case when :name::text is null then 0 else 1 end, name = coalesce(:name, name),
      candidate_sealed = coalesce(:candidateSealed, candidate_sealed), result_sealed = coalesce(:resultSealed, result_sealed),
      called_at = case when :state = 'calling' and state = 'planned' then now() else called_at end,
      tries = case when state = :state then tries + 1 else 0 end, error_code = :errorCode, message_sealed = :messageSealed,
      temporary_sealed = case when :isFinal then null else temporary_sealed end, ended_at = case when :isFinal then now() end
    where id = :id and state = any(:from)
    returning id`,
  params: {
    id: t.uuid,
    from: t.array(t.text),
    state: t.oneOf(...ATTEMPT_STATES),
    isFinal: t.boolean,
    name: t.nullable(t.text),
    candidateSealed: t.nullable(t.bytea),
    resultSealed: t.nullable(t.bytea),
    errorCode: t.nullable(t.text),
    messageSealed: t.nullable(t.bytea),
  },
  row: { id: t.uuid },
});

/** Seconds until the process of a lost call has ended, after a number of calls. */
export const secondsToSettle = sqlStatement({
  text: `
    select greatest(0, extract(epoch from called_at - now()) + :afterSeconds::integer)::double precision as seconds
    from secret_rotation_attempt where id = :id`,
  params: { id: t.uuid, afterSeconds: t.integer },
  row: { seconds: t.nullable(t.double) },
});

/** The credential in a slot of a rotation. */
export const findCredentials = sqlStatement({
  text: `
    select rotation_id as "rotationId", slot, generation, credential_sealed as "credentialSealed", created_at as "createdAt"
    from secret_rotation_credential where rotation_id = any(:rotationIds) order by rotation_id, slot`,
  params: { rotationIds: t.array(t.uuid) },
  row: { rotationId: t.uuid, slot: t.integer, generation: t.integer, credentialSealed: t.bytea, createdAt: t.time },
});

/** Writes a credential to its slot, replacing the current one. */
export const putCredential = sqlStatement({
  text: `
    insert into secret_rotation_credential (rotation_id, slot, organization_id, project_id, generation, credential_sealed, account_digest)
    values (:rotationId, :slot, :organizationId, :projectId, :generation, :credentialSealed, :accountDigest)
    on conflict (rotation_id, slot) do update
      set generation = excluded.generation, credential_sealed = excluded.credential_sealed, account_digest = excluded.account_digest,
        created_at = now()`,
  params: {
    rotationId: t.uuid,
    slot: t.integer,
    organizationId: t.uuid,
    projectId: t.uuid,
    generation: t.integer,
    credentialSealed: t.bytea,
    accountDigest: t.nullable(t.bytea),
  },
  row: {},
});

/** Whether a rotation `r` is due and can run. Null if it is not known when it is due. */
export const IS_DUE = `(r.is_auto_rotation_enabled and r.pause_reason is null and r.next_rotation_at <= now() or r.requested_at <= now())
      and r.status in ('success', 'failed')`;

/** IDs of rotations that are due and can run. */
export const listDueRotations = sqlStatement({
  text: `
    select r.id, r.organization_id as "organizationId", r.project_id as "projectId", c.target
    from secret_rotation r join app_connection c on c.id = r.connection_id
    where ${IS_DUE} and r.id > :after order by r.id limit :most::integer`,
  params: { after: t.uuid, most: t.integer },
  row: { id: t.uuid, organizationId: t.uuid, projectId: t.uuid, target: t.text },
});

/** Rotations with an attempt that began some time ago and that no job continues: its job was cancelled or has failed. */
export const listRotationsWithoutJob = sqlStatement({
  text: `
    select r.id, r.organization_id as "organizationId", r.project_id as "projectId", c.target
    from secret_rotation_attempt a join secret_rotation r on r.id = a.rotation_id join app_connection c on c.id = r.connection_id
    where a.ended_at is null and a.rotation_id > :after and a.created_at < now() - interval '10 minutes' and not exists (
      select from job j where j.kind = :kind and j.dedupe_key = r.id::text and j.state in ('waiting', 'running'))
    order by r.id limit :most::integer`,
  params: { after: t.uuid, kind: t.text, most: t.integer },
  row: { id: t.uuid, organizationId: t.uuid, projectId: t.uuid, target: t.text },
});

/** Whether it is unknown which credential of a rotation is valid, with no success since. */
export const findUndecided = sqlStatement({
  text: `
    select coalesce(max(number) filter (where state = 'undecided') > coalesce(max(number) filter (where state = 'succeeded'), 0), false)
      as "isUndecided"
    from secret_rotation_attempt where rotation_id = :rotationId`,
  params: { rotationId: t.uuid },
  row: { isUndecided: t.boolean },
});

/** The time of the database clock. */
export const readClock = sqlStatement({
  text: 'select now() as now',
  params: {},
  row: { now: t.time },
});

/** One page of the attempts of a rotation, newest first. */
export const listAttempts = sqlStatement({
  text: `
    select ${COLUMNS} from secret_rotation_attempt a
    where a.rotation_id = :rotationId and (:time::text is null or (a.created_at, a.id) < (:time::text::timestamptz, :afterId::uuid))
    order by a.created_at desc, a.id desc limit :limit::integer`,
  params: {
    rotationId: t.uuid,
    time: t.nullable(t.text),
    afterId: t.nullable(t.uuid),
    limit: t.nullable(t.integer),
  },
  row: ROW,
});

/** Schedules rotations one after the other, a number of seconds apart. @returns those that can run */
export const requestRotations = sqlStatement({
  text: `
    update secret_rotation r
    set requested_at = now() + make_interval(secs => wanted.at * :staggerSeconds::integer), requester_kind = :actorKind, requester_id = :actorId
    from unnest(:ids::uuid[], :places::integer[]) as wanted (id, at), app_connection c
    where r.id = wanted.id and c.id = r.connection_id and r.status in ('success', 'failed')
    returning r.id, r.organization_id as "organizationId", r.project_id as "projectId", r.requested_at as "dueAt", c.target`,
  params: {
    ids: t.array(t.uuid),
    places: t.array(t.integer),
    staggerSeconds: t.integer,
    actorKind: t.text,
    actorId: t.uuid,
  },
  row: { id: t.uuid, organizationId: t.uuid, projectId: t.uuid, dueAt: t.nullable(t.time), target: t.text },
});
