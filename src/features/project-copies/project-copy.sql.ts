import { sqlStatement, t } from '../../kernel/database/statement.js';

const PROJECT = { projectId: t.uuid };
const COPY = { sourceId: t.uuid, projectId: t.uuid };

/** Whether a slug is taken in an organization. */
export const findBySlug = sqlStatement({
  text: 'select id from project where organization_id = :organizationId and slug = :slug',
  params: { organizationId: t.uuid, slug: t.text },
  row: { id: t.uuid },
});

/** The values that leak detection of a project ignores, and the version that they are sealed for. */
export const findIgnoreValues = sqlStatement({
  text: `select secret_detection_ignore_values_sealed as sealed, secret_detection_ignore_values_version as version
    from project where id = :projectId`,
  params: PROJECT,
  row: { sealed: t.nullable(t.bytea), version: t.integer },
});

/** Copies the settings of another project to a new one. */
export const copySettings = sqlStatement({
  text: `update project p set description = coalesce(p.description, s.description), default_product = s.default_product,
      auto_capitalization = s.auto_capitalization, pit_version_limit = s.pit_version_limit,
      audit_logs_retention_days = s.audit_logs_retention_days, has_delete_protection = s.has_delete_protection,
      secret_sharing = s.secret_sharing, show_snapshots_legacy = s.show_snapshots_legacy,
      enforce_encrypted_secret_metadata = s.enforce_encrypted_secret_metadata,
      secret_detection_ignore_values_sealed = :ignoreValuesSealed, secret_detection_ignore_values_version = :version
    from project s where p.id = :projectId and s.id = :sourceId`,
  params: { ...COPY, ignoreValuesSealed: t.nullable(t.bytea), version: t.integer },
  row: {},
});

/** Environments of a project by position. */
export const listEnvironments = sqlStatement({
  text: 'select id, name, slug from environment where project_id = :projectId order by position',
  params: PROJECT,
  row: { id: t.uuid, name: t.text, slug: t.text },
});

/** The custom roles of a project. */
export const listRoles = sqlStatement({
  text: 'select slug from project_role where project_id = :projectId',
  params: PROJECT,
  row: { slug: t.text },
});

export const copyRoles = sqlStatement({
  text: `insert into project_role (id, organization_id, project_id, slug, name, description, permissions)
    select gen_random_uuid(), organization_id, :projectId, slug, name, description, permissions
    from project_role where project_id = :sourceId and slug = any(:slugs)`,
  params: { ...COPY, slugs: t.array(t.text) },
  row: {},
});

/** IDs of the tags of a project. */
export const listTagIds = sqlStatement({
  text: 'select id from tag where project_id = :projectId',
  params: PROJECT,
  row: { id: t.uuid },
});

/** Copies tags under new IDs. */
export const copyTags = sqlStatement({
  text: `insert into tag (id, organization_id, project_id, slug, color)
    select n.id, g.organization_id, :projectId, g.slug, g.color
    from unnest(:ids::uuid[], :newIds::uuid[]) as n (source_id, id) join tag g on g.id = n.source_id`,
  params: { ...PROJECT, ids: t.array(t.uuid), newIds: t.array(t.uuid) },
  row: {},
});

/** The roles of a membership `m` that have not ended, including those that have not started. */
const HELD = `array(select role from unnest(m.roles) with ordinality as listed (role, at)
    where not coalesce(m.role_terms ? role, false) or now() < (m.role_terms -> role ->> 'endsAt')::timestamptz order by at)`;

/** A privilege `v` that has not ended. */
const LASTS = '(v.ends_at is null or now() < v.ends_at)';

/**
 * The roles that a membership `m` is copied with. A privilege applies without active roles, where groups keep its
 * holder in the project: then they are copied although they have ended.
 */
const COPIED = `case when exists (select from unnest(${HELD})) then ${HELD}
    when exists (select from additional_privilege v where v.membership_id = m.id and ${LASTS}) then m.roles else '{}' end`;

/** Members of a project, oldest first: the order in which rules of groups are evaluated. */
export const listMembers = sqlStatement({
  text: `select m.id, case when m.user_id is not null then 'user' when m.identity_id is not null then 'identity' else 'group' end as kind,
      coalesce(m.user_id, m.identity_id, m.group_id) as "memberId", coalesce(u.username, i.name, g.name) as name,
      g.slug as "groupSlug", coalesce(i.project_id is not null, false) as "isOwned", ${COPIED} as roles
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
    isOwned: t.boolean,
    roles: t.array(t.text),
  },
});

/** Privileges of memberships that have not ended, in order of evaluation. */
export const listPrivileges = sqlStatement({
  text: `select id from additional_privilege v
    where membership_id = any(:membershipIds) and ${LASTS} order by created_at, id`,
  params: { membershipIds: t.array(t.uuid) },
  row: { id: t.uuid },
});

/** Copies memberships under new IDs, with the terms of their roles. */
export const copyMembers = sqlStatement({
  text: `insert into project_membership (id, organization_id, project_id, user_id, identity_id, group_id, roles, role_terms)
    select n.id, m.organization_id, :projectId, m.user_id, m.identity_id, m.group_id, held.roles,
      (select jsonb_object_agg(term.key, term.value) from jsonb_each(m.role_terms) term where term.key = any(held.roles))
    from unnest(:ids::uuid[], :newIds::uuid[]) as n (source_id, id) join project_membership m on m.id = n.source_id
      cross join lateral (select ${COPIED} as roles) held`,
  params: { ...PROJECT, ids: t.array(t.uuid), newIds: t.array(t.uuid) },
  row: {},
});

/** Copies privileges under new IDs, to the same members. */
export const copyPrivileges = sqlStatement({
  text: `insert into additional_privilege (id, organization_id, project_id, membership_id, slug, permissions, temporary_range, starts_at, ends_at)
    select n.id, v.organization_id, :projectId, c.id, v.slug, v.permissions, v.temporary_range, v.starts_at, v.ends_at
    from unnest(:ids::uuid[], :newIds::uuid[]) as n (source_id, id) join additional_privilege v on v.id = n.source_id
      join project_membership m on m.id = v.membership_id
      join project_membership c on c.project_id = :projectId
        and coalesce(c.user_id, c.identity_id) = coalesce(m.user_id, m.identity_id)`,
  params: { ...PROJECT, ids: t.array(t.uuid), newIds: t.array(t.uuid) },
  row: {},
});
