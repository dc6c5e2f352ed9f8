// Roles, privileges and conditions in their rules: of slices that stand on this one, which has no entities of theirs.
import { arrayOfHiddenLength } from '../../../../kernel/database/plans.sql.js';
import { sqlStatement, t } from '../../../../kernel/database/statement.js';
import { attributesNamedIn } from '../../permissions/public.js';

/** The roles that an account has by itself and through groups, in any organization, also of memberships that have ended. */
export const listRolesInAllOrganizations = sqlStatement({
  text: `select m.organization_id as "organizationId", m.role, r.permissions::text from organization_membership m
    left join organization_role r on r.organization_id = m.organization_id and r.slug = m.role
    where coalesce(m.user_id, m.identity_id) = :memberId
      or m.group_id in (select g.group_id from group_member g where coalesce(g.user_id, g.identity_id) = :memberId)`,
  params: { memberId: t.uuid },
  row: { organizationId: t.uuid, role: t.text, permissions: t.nullable(t.text) },
});

/** Roles that accounts have right now in an organization and those below it, of their own memberships first. */
export const listRolesNow = sqlStatement({
  // One member at a time, by index: with `offset 0` Postgres never reads the members of all organizations.
  text: `select m.organization_id as "organizationId", asked.id as "memberId", m.role, r.permissions::text,
      ${attributesNamedIn('r', 'asked.id')} as attributes, m.ends_at as "endsAt"
    from unnest(${arrayOfHiddenLength(':memberIds', 'uuid')}) asked(id)
    cross join lateral (select * from organization_member_now held where held.member_id = asked.id offset 0) n
    join organization_membership m on m.id = n.id
    left join organization_role r on r.organization_id = m.organization_id and r.slug = m.role
    where m.organization_id in (select o.id from organization o where o.id = :organizationId or o.parent_id = :organizationId)
    order by m.organization_id, asked.id, m.group_id is not null, m.created_at, m.id`,
  params: { organizationId: t.uuid, memberIds: t.array(t.uuid) },
  row: {
    organizationId: t.uuid,
    memberId: t.uuid,
    role: t.text,
    permissions: t.nullable(t.text),
    attributes: t.nullable(t.text),
    endsAt: t.nullable(t.time),
  },
});

/** The conditions at a path that rules have in an organization, in those below it and in all of their projects, each once. */
export const listConditionsAt = sqlStatement({
  text: `with here as (select o.id from organization o where o.id = :organizationId or o.parent_id = :organizationId),
    listed as (
      select r.permissions from project_role r where r.organization_id in (select id from here)
      union all
      select r.permissions from organization_role r where r.organization_id in (select id from here)
      union all
      select v.permissions from additional_privilege v where v.organization_id in (select id from here))
    select distinct jsonb_path_query(listed.permissions, :path::text::jsonpath) as condition
    from listed where listed.permissions @? :path::text::jsonpath`,
  params: { organizationId: t.uuid, path: t.text },
  row: { condition: t.json },
});
