import { sqlStatement, t } from '../../kernel/database/statement.js';

/** Roles whose rules may have conditions on roles. Held until the transaction ends: none of them changes at the same moment. */
export const LOCK_ROLES_ABOUT_ROLES = sqlStatement({
  text: `select r.id, r.permissions from organization_role r
    where r.organization_id = :organizationId and r.permissions::text like '%"role":%' order by r.id for update`,
  params: { organizationId: t.uuid },
  row: { id: t.uuid, permissions: t.json },
});

/** Gives roles other rules. @param permissions JSON text, in the order of the ids */
export const REPLACE_RULES = sqlStatement({
  text: `update organization_role r
    set permissions = renamed.permissions::jsonb, version = r.version + 1, updated_at = now()
    from unnest(:ids::uuid[], :permissions::text[]) renamed(id, permissions) where r.id = renamed.id returning r.id`,
  params: { ids: t.array(t.uuid), permissions: t.array(t.text) },
  row: { id: t.uuid },
});
