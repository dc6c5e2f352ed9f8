import { sqlStatement, t } from '../../kernel/database/statement.js';
import { WAIT_REASONS } from '../../kernel/jobs/job-kind.js';
import { APPS } from '../app-connections/public.js';
import { hasDisabledKey } from '../projects/public.js';
import { ROTATION_TYPES } from './kinds/kinds.js';
import { ATTEMPT_REASONS } from './store/attempt.entity.js';
import { IS_DUE } from './store/attempt.sql.js';
import { ROTATION_STATUSES } from './store/rotation.entity.js';
import { ATTEMPT_STATES } from './store/states.js';
import type { ScheduleExtras } from './store/timing.js';

/** Rotations by ID, project or connection, with their folders, connections and the results of their last attempts; by name, then ID. */
export const listRotationViews = sqlStatement({
  text: `
    select r.id, r.organization_id as "organizationId", r.project_id as "projectId", r.type, r.name, r.description, r.parameters,
      r.secrets_mapping as "secretsMapping", r.is_auto_rotation_enabled as "isAutoRotationEnabled", r.rotation_interval as "rotationInterval",
      r.rotate_at_hours as "rotateAtHours", r.rotate_at_minutes as "rotateAtMinutes", r.schedule, r.status, r.active_index as "activeIndex",
      r.generation, r.failures, r.pause_reason as "pauseReason", r.last_attempted_at as "lastAttemptedAt", r.last_rotated_at as "lastRotatedAt",
      r.is_last_manual as "isLastManual", r.next_rotation_at as "nextRotationAt", r.version, r.created_at as "createdAt", r.updated_at as "updatedAt",
      r.folder_id as "folderId", f.path, r.environment_id as "environmentId", e.slug as environment, e.name as "environmentName",
      r.connection_id as "connectionId", c.app, c.name as "connectionName", a.id as "attemptId", a.state, a.reason, a.error_code as "errorCode",
      a.message_sealed as "messageSealed",
      case
        when r.status <> 'in_progress' and (${IS_DUE}) is not true then null
        when ${hasDisabledKey('r.project_id')} then 'KEY_DISABLED'
        when u.next_try_at is not null then 'TARGET_UNRESPONSIVE'
      end as "waitReason"
    from secret_rotation r join folder f on f.id = r.folder_id join environment e on e.id = r.environment_id
      join app_connection c on c.id = r.connection_id left join secret_rotation_attempt a on a.id = r.last_attempt_id
      left join unresponsive_target u on u.organization_id = c.organization_id and u.target = c.target
    where r.id = any(:ids) or r.project_id = any(:projectIds) or r.connection_id = any(:connectionIds)
    order by r.name collate "C", r.id`,
  params: { ids: t.array(t.uuid), projectIds: t.array(t.uuid), connectionIds: t.array(t.uuid) },
  row: {
    id: t.uuid,
    organizationId: t.uuid,
    projectId: t.uuid,
    type: t.oneOf(...ROTATION_TYPES),
    name: t.text,
    description: t.nullable(t.text),
    parameters: t.jsonOf<Readonly<Record<string, unknown>>>(),
    secretsMapping: t.jsonOf<Readonly<Record<string, string>>>(),
    isAutoRotationEnabled: t.boolean,
    rotationInterval: t.integer,
    rotateAtHours: t.integer,
    rotateAtMinutes: t.integer,
    schedule: t.jsonOf<ScheduleExtras>(),
    status: t.oneOf(...ROTATION_STATUSES),
    activeIndex: t.integer,
    generation: t.integer,
    failures: t.integer,
    pauseReason: t.nullable(t.text),
    lastAttemptedAt: t.nullable(t.time),
    lastRotatedAt: t.nullable(t.time),
    isLastManual: t.boolean,
    nextRotationAt: t.nullable(t.time),
    version: t.integer,
    createdAt: t.time,
    updatedAt: t.time,
    folderId: t.uuid,
    path: t.text,
    environmentId: t.uuid,
    environment: t.text,
    environmentName: t.text,
    connectionId: t.uuid,
    app: t.oneOf(...APPS),
    connectionName: t.text,
    attemptId: t.nullable(t.uuid),
    state: t.nullable(t.oneOf(...ATTEMPT_STATES)),
    reason: t.nullable(t.oneOf(...ATTEMPT_REASONS)),
    errorCode: t.nullable(t.text),
    messageSealed: t.nullable(t.bytea),
    waitReason: t.nullable(t.oneOf(...WAIT_REASONS)),
  },
});
export type RotationView = Awaited<ReturnType<typeof listRotationViews>>[number];

/** Rotations of a connection, and then credentials that are still to be revoked with it. */
export const findConnectionHolds = sqlStatement({
  text: `
    select h.kind, h.id, h.connection_id as "connectionId", h.project_id as "projectId", r.name as "rotationName", e.slug as environment, f.path
    from (
      select 'rotation' as kind, id, id as rotation_id, connection_id, project_id from secret_rotation where connection_id = :connectionId
      union all
      select 'debt', id, rotation_id, connection_id, project_id from credential_debt where connection_id = :connectionId
    ) h left join secret_rotation r on r.id = h.rotation_id left join environment e on e.id = r.environment_id
      left join folder f on f.id = r.folder_id
    order by h.kind desc, r.name collate "C", h.id`,
  params: { connectionId: t.uuid },
  row: {
    kind: t.oneOf('rotation', 'debt'),
    id: t.uuid,
    connectionId: t.uuid,
    projectId: t.uuid,
    rotationName: t.nullable(t.text),
    environment: t.nullable(t.text),
    path: t.nullable(t.text),
  },
});
