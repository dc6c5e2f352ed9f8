// Many rows are written at once, from JSON or by a window.
import { sqlStatement, t } from '../../kernel/database/statement.js';

const PROJECT = { projectId: t.uuid };

/** Renames environments: `[{ slug, name }]`. */
export const RENAME_ENVIRONMENTS = sqlStatement({
  text: `update environment e set name = n.name, updated_at = now()
    from jsonb_to_recordset(:environments::text::jsonb) as n (slug text, name text)
    where e.project_id = :projectId and e.slug = n.slug`,
  params: { ...PROJECT, environments: t.text },
  row: {},
});

/** Closes the gaps between positions. */
export const CLOSE_POSITIONS = sqlStatement({
  text: `update environment e set position = p.at
    from (select id, row_number() over (order by position)::integer as at from environment where project_id = :projectId) p
    where e.id = p.id and e.position <> p.at`,
  params: PROJECT,
  row: {},
});

/** Replaces roles, each under its next version: `[{ slug, name, rules }]`. */
export const UPDATE_ROLES = sqlStatement({
  text: `update project_role r set name = n.name, permissions = n.rules, version = r.version + 1, updated_at = now()
    from jsonb_to_recordset(:roles::text::jsonb) as n (slug text, name text, rules jsonb)
    where r.project_id = :projectId and r.slug = n.slug`,
  params: { ...PROJECT, roles: t.text },
  row: {},
});

/** Replaces roles of members, permanently: `[{ memberId, roles }]`. */
export const UPDATE_MEMBERS = sqlStatement({
  text: `update project_membership m set role_terms = null, updated_at = now(),
      roles = array(select role from jsonb_array_elements_text(n.roles) with ordinality as held (role, at) order by at)
    from jsonb_to_recordset(:members::text::jsonb) as n ("memberId" uuid, roles jsonb)
    where m.project_id = :projectId and coalesce(m.user_id, m.identity_id, m.group_id) = n."memberId"`,
  params: { ...PROJECT, members: t.text },
  row: {},
});
