import { sqlStatement, t } from '../../kernel/database/statement.js';

const PROJECT = { projectId: t.uuid };
const PLACE = { organizationId: t.uuid, ...PROJECT };

/** The template and version that a project was created from; null if none. */
export const FIND_TEMPLATE_OF = sqlStatement({
  text: `select template_id as "templateId", template_version as version from project where id = :projectId`,
  params: PROJECT,
  row: { templateId: t.nullable(t.uuid), version: t.nullable(t.integer) },
});

/** Environments of a project by position, whether they hold content (deleted secrets included), and whether others import from them. */
export const FIND_ENVIRONMENTS = sqlStatement({
  text: `select e.id, e.slug, e.name,
      exists (select from secret s where s.environment_id = e.id)
        or exists (select from secret_version v where v.environment_id = e.id)
        or exists (select from folder f where f.environment_id = e.id and f.path <> '/')
        or exists (select from secret_import i join folder f on f.id = i.folder_id where f.environment_id = e.id)
        or exists (select from secret_rotation_key k join folder f on f.id = k.folder_id where f.environment_id = e.id) as "holdsContent",
      exists (select from secret_import i join folder f on f.id = i.source_folder_id where f.environment_id = e.id) as "isImported"
    from environment e where e.project_id = :projectId order by e.position`,
  params: PROJECT,
  row: { id: t.uuid, slug: t.text, name: t.text, holdsContent: t.boolean, isImported: t.boolean },
});

/** Custom roles of a project, by slug. */
export const FIND_ROLES = sqlStatement({
  text: `select id, slug, name, permissions as rules from project_role where project_id = :projectId order by slug collate "C"`,
  params: PROJECT,
  row: { id: t.uuid, slug: t.text, name: t.text, rules: t.json },
});

/** Members of a project, oldest first. */
export const FIND_PROJECT_MEMBERS = sqlStatement({
  text: `select m.id, case when m.user_id is not null then 'user' when m.identity_id is not null then 'identity' else 'group' end as kind,
      coalesce(m.user_id, m.identity_id, m.group_id) as "memberId", coalesce(u.username, i.name, g.name) as name,
      g.slug as "groupSlug", m.roles, m.role_terms as terms, m.created_at as "joinedAt"
    from project_membership m left join app_user u on u.id = m.user_id left join identity i on i.id = m.identity_id
      left join member_group g on g.id = m.group_id
    where m.project_id = :projectId order by m.created_at, m.id`,
  params: PROJECT,
  row: {
    id: t.uuid,
    kind: t.oneOf('user', 'group', 'identity'),
    memberId: t.uuid,
    name: t.text,
    groupSlug: t.nullable(t.text),
    roles: t.array(t.text),
    terms: t.nullable(t.json),
    joinedAt: t.time,
  },
});

/** Machine identities owned by a project, oldest first. */
export const FIND_OWN_IDENTITIES = sqlStatement({
  text: `select id, name from identity where project_id = :projectId order by created_at, id`,
  params: PROJECT,
  row: { id: t.uuid, name: t.text },
});

/** Appends environments: `[{ id, slug, name }]`, in order. */
export const ADD_ENVIRONMENTS = sqlStatement({
  text: `insert into environment (id, organization_id, project_id, slug, name, position)
    select (e.entry ->> 'id')::uuid, :organizationId, :projectId, e.entry ->> 'slug', e.entry ->> 'name',
      (select count(*) from environment where project_id = :projectId) + e.at
    from jsonb_array_elements(:environments::text::jsonb) with ordinality as e (entry, at)`,
  params: { ...PLACE, environments: t.text },
  row: {},
});

/** Renames environments: `[{ slug, name }]`. */
export const RENAME_ENVIRONMENTS = sqlStatement({
  text: `update environment e set name = n.name, updated_at = now()
    from jsonb_to_recordset(:environments::text::jsonb) as n (slug text, name text)
    where e.project_id = :projectId and e.slug = n.slug`,
  params: { ...PROJECT, environments: t.text },
  row: {},
});

export const DELETE_ENVIRONMENTS = sqlStatement({
  text: `delete from environment where project_id = :projectId and slug = any(:slugs)`,
  params: { ...PROJECT, slugs: t.array(t.text) },
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

export const DELETE_ROLES = sqlStatement({
  text: `delete from project_role where project_id = :projectId and slug = any(:slugs)`,
  params: { ...PROJECT, slugs: t.array(t.text) },
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

export const DELETE_MEMBERS = sqlStatement({
  text: `delete from project_membership
    where project_id = :projectId and coalesce(user_id, identity_id, group_id) = any(:memberIds)`,
  params: { ...PROJECT, memberIds: t.array(t.uuid) },
  row: {},
});

/** Stores the template version that a project matches. */
export const SET_TEMPLATE_VERSION = sqlStatement({
  text: `update project set template_version = :version, updated_at = now() where id = :projectId`,
  params: { ...PROJECT, version: t.integer },
  row: {},
});
