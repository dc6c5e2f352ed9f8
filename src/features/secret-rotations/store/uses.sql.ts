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

/** Rotations of an organization that own an account, or have published a credential of it. */
export const findAccountOwners = sqlStatement({
  text: `
    select ${USE} where r.id in (
      select id from secret_rotation where organization_id = :organizationId and account_digest = :accountDigest
      union all
      select rotation_id from secret_rotation_credential where organization_id = :organizationId and account_digest = :accountDigest
    ) order by r.name collate "C", r.id`,
  params: { organizationId: t.uuid, accountDigest: t.bytea },
  row: USE_ROW,
});
