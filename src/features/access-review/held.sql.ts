import { sqlStatement, t } from '../../kernel/database/statement.js';

const MEMBER = `case when u.id is null then 'identity' else 'user' end as "memberKind", coalesce(u.id, i.id, m.member_id) as "memberId",
  coalesce(u.username, i.name) as name`;
const NAMED = 'left join app_user u on u.id = m.member_id left join identity i on i.id = m.member_id';

/** `roles` in the order in which their rules count; `memberships` say for each of them where it comes from. */
const ROWS = {
  projectId: t.uuid,
  memberKind: t.oneOf('user', 'identity'),
  memberId: t.uuid,
  name: t.nullable(t.text),
  roles: t.array(t.text),
  memberships: t.array(t.uuid),
} as const;

const held = (from: string): string => `select p.id as "projectId", ${MEMBER}, m.roles, m.memberships from (
    select n.project_id, n.member_id,
      array_agg(role.slug order by n.group_id is not null, n.created_at, n.id, role.at) as roles,
      array_agg(n.id order by n.group_id is not null, n.created_at, n.id, role.at) as memberships
    from ${from} n cross join unnest(n.roles) with ordinality as role(slug, at)
    where n.project_id = any(:projectIds)
    group by n.project_id, n.member_id) m join project p on p.id = m.project_id ${NAMED}`;

/** All members of a project, directly or through groups, with the roles that they have right now. */
export const HELD_NOW = sqlStatement({
  text: `${held('project_member_now')}
    where exists (select from organization_member_now o where o.organization_id = :organizationId and o.member_id = m.member_id)`,
  params: { projectIds: t.array(t.uuid), organizationId: t.uuid },
  row: ROWS,
});

/** The roles that a project made, with their rules. */
export const ROLES_NOW = sqlStatement({
  text: `select project_id as "projectId", slug, permissions::text as permissions from project_role where project_id = any(:projectIds)`,
  params: { projectIds: t.array(t.uuid) },
  row: { projectId: t.uuid, slug: t.text, permissions: t.text },
});

/** Privileges of members of a project that hold right now, in the order in which their rules count. */
export const PRIVILEGES_NOW = sqlStatement({
  text: `select v.project_id as "projectId", v.membership_id as "membershipId", v.slug, v.permissions::text as permissions from additional_privilege v
    where v.project_id = any(:projectIds) and (v.ends_at is null or (v.starts_at <= now() and now() < v.ends_at))
    order by v.created_at, v.id`,
  params: { projectIds: t.array(t.uuid) },
  row: { projectId: t.uuid, membershipId: t.uuid, slug: t.text, permissions: t.text },
});

/** What rows of a table were at a time. */
const was = (source: string, columns: string): string => `(
    select ${columns} from access_history h
    where h.source = '${source}' and h.organization_id = :organizationId and h.valid_from <= :at and (h.valid_to is null or :at < h.valid_to))`;

const ORGANIZATION_MEMBERS = `(
    select coalesce(m.user_id, m.identity_id, g.user_id, g.identity_id) as member_id
    from ${was(
      'organization_membership',
      `h.row_id as id, (h.content ->> 'user_id')::uuid as user_id, (h.content ->> 'identity_id')::uuid as identity_id,
        (h.content ->> 'group_id')::uuid as group_id, (h.content ->> 'ends_at')::timestamptz as ends_at`,
    )} m
    left join ${was(
      'group_member',
      `(h.content ->> 'group_id')::uuid as group_id, (h.content ->> 'user_id')::uuid as user_id,
        (h.content ->> 'identity_id')::uuid as identity_id`,
    )} g on g.group_id = m.group_id
    where m.ends_at is null or :at < m.ends_at)`;

const PROJECT_MEMBERS = `(
    select m.id, m.project_id, coalesce(m.user_id, m.identity_id, g.user_id, g.identity_id) as member_id, m.group_id, m.created_at,
      array(select role from unnest(m.roles) with ordinality as listed(role, place)
        where not coalesce(m.role_terms ? role, false)
          or ((m.role_terms -> role ->> 'startsAt')::timestamptz <= :at and :at < (m.role_terms -> role ->> 'endsAt')::timestamptz)
        order by place) as roles
    from ${was(
      'project_membership',
      `h.row_id as id, h.project_id, (h.content ->> 'user_id')::uuid as user_id,
        (h.content ->> 'identity_id')::uuid as identity_id, (h.content ->> 'group_id')::uuid as group_id,
        nullif(h.content -> 'role_terms', 'null'::jsonb) as role_terms, (h.content ->> 'created_at')::timestamptz as created_at,
        array(select jsonb_array_elements_text(h.content -> 'roles')) as roles`,
    )} m
    left join ${was(
      'group_member',
      `(h.content ->> 'group_id')::uuid as group_id, (h.content ->> 'user_id')::uuid as user_id,
        (h.content ->> 'identity_id')::uuid as identity_id`,
    )} g on g.group_id = m.group_id
    where m.project_id = any(:projectIds))`;

const AT = { projectIds: t.array(t.uuid), organizationId: t.uuid, at: t.time } as const;

/** As `HELD_NOW`, at a time. Whoever was deleted since then has no name any more. */
export const HELD_AT = sqlStatement({
  text: `${held(PROJECT_MEMBERS)}
    where m.member_id is not null and m.member_id in (select o.member_id from ${ORGANIZATION_MEMBERS} o)`,
  params: AT,
  row: ROWS,
});

/** As `ROLES_NOW`, at a time. */
export const ROLES_AT = sqlStatement({
  text: `select p.id as "projectId", r.slug, r.permissions from project p join ${was('project_role', `h.project_id, h.content ->> 'slug' as slug, h.content ->> 'permissions' as permissions`)} r
    on p.id = r.project_id where p.id = any(:projectIds)`,
  params: AT,
  row: { projectId: t.uuid, slug: t.text, permissions: t.text },
});

/** As `PRIVILEGES_NOW`, at a time. */
export const PRIVILEGES_AT = sqlStatement({
  text: `select p.id as "projectId", v.membership_id as "membershipId", v.slug, v.permissions from project p join ${was(
    'additional_privilege',
    `h.row_id, h.project_id, (h.content ->> 'membership_id')::uuid as membership_id, h.content ->> 'slug' as slug,
      h.content ->> 'permissions' as permissions, (h.content ->> 'starts_at')::timestamptz as starts_at,
      (h.content ->> 'ends_at')::timestamptz as ends_at, (h.content ->> 'created_at')::timestamptz as created_at`,
  )} v on v.project_id = p.id
    where p.id = any(:projectIds) and (v.ends_at is null or (v.starts_at <= :at and :at < v.ends_at))
    order by v.created_at, v.row_id`,
  params: AT,
  row: { projectId: t.uuid, membershipId: t.uuid, slug: t.text, permissions: t.text },
});

/** What rules can name of members, as JSON text. */
export const ATTRIBUTES = sqlStatement({
  text: `select i.id as "memberId", (jsonb_build_object('id', i.id) || coalesce((select jsonb_object_agg('metadata.' || (entry ->> 'key'), entry ->> 'value')
      from jsonb_array_elements(i.metadata) entry), '{}'))::text as attributes
    from identity i where i.id = any(:memberIds)
    union all
    select u.id, jsonb_build_object('id', u.id)::text from app_user u where u.id = any(:memberIds)`,
  params: { memberIds: t.array(t.uuid) },
  row: { memberId: t.uuid, attributes: t.text },
});
