// Unions of what may be valid in external systems, lateral joins of JSON, and an update of many rows by their places.
import { sqlStatement, t } from '../../../../kernel/database/statement.js';
import { APPS } from '../../app-connections/public.js';
import { ROTATION_TYPES } from '../kinds/kinds.js';

/**
 * Credentials that may be valid in external systems, newest first: published ones, and what attempts may have created whose result is
 * not published. Of a project also those that are still to be revoked.
 *
 * @param overlapping types whose replaced credential stays valid until the next rotation
 */
export const listLeft = sqlStatement({
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
