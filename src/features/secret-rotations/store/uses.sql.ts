import { sqlStatement, t } from '../../../kernel/database/statement.js';
import { ROTATION_TYPES } from '../kinds/kinds.js';

const USE = `r.connection_id as "connectionId", r.id as "rotationId", r.name as "rotationName", r.type, r.project_id as "projectId",
      e.slug as environment, f.path
    from secret_rotation r join folder f on f.id = r.folder_id join environment e on e.id = r.environment_id`;
const USE_ROW = {
  connectionId: t.uuid,
  rotationId: t.uuid,
  rotationName: t.text,
  type: t.oneOf(...ROTATION_TYPES),
  projectId: t.uuid,
  environment: t.text,
  path: t.text,
} as const;

/** Rotations that use connections. */
export const findConnectionUses = sqlStatement({
  text: `select ${USE} where r.connection_id = any(:connectionIds) order by r.name collate "C", r.id`,
  params: { connectionIds: t.array(t.uuid) },
  row: USE_ROW,
});

/**
 * Rotations of an organization that own an account, or have published a credential of it, and credentials of it that are still to be
 * revoked, also of deleted rotations.
 */
export const findAccountOwners = sqlStatement({
  text: `
    select o.kind, o.id, o.rotation_id as "rotationId", o.connection_id as "connectionId", o.project_id as "projectId", r.name as "rotationName",
      e.slug as environment, f.path
    from (
      select 'rotation' as kind, id, id as rotation_id, connection_id, project_id from secret_rotation where id in (
        select id from secret_rotation where organization_id = :organizationId and account_digest = :accountDigest
        union all
        select rotation_id from secret_rotation_credential where organization_id = :organizationId and account_digest = :accountDigest)
      union all
      select 'debt', id, rotation_id, connection_id, project_id from credential_debt
      where organization_id = :organizationId and account_digest = :accountDigest
    ) o left join secret_rotation r on r.id = o.rotation_id left join environment e on e.id = r.environment_id
      left join folder f on f.id = r.folder_id
    order by o.kind desc, r.name collate "C", o.id`,
  params: { organizationId: t.uuid, accountDigest: t.bytea },
  row: {
    kind: t.oneOf('rotation', 'debt'),
    id: t.uuid,
    rotationId: t.uuid,
    connectionId: t.uuid,
    projectId: t.uuid,
    rotationName: t.nullable(t.text),
    environment: t.nullable(t.text),
    path: t.nullable(t.text),
  },
});
