import { arrayOfHiddenLength } from '../../../kernel/database/plans.sql.js';
import { sqlStatement, t } from '../../../kernel/database/statement.js';

/**
 * What users, identities and groups have in all projects of an organization and of its sub-organizations, by themselves
 * or through groups. What has ended is left out.
 */
export const listRolesInAllProjects = sqlStatement({
  text: `select asked.id as "memberId", w.organization_id as "organizationId", w.role, w.permissions, w.ends_at as "termEndsAt"
    from unnest(${arrayOfHiddenLength(':memberIds', 'uuid')}) asked(id)
    cross join lateral (
      select d.* from all_projects_membership d where coalesce(d.user_id, d.identity_id) = asked.id
      union all
      select d.* from all_projects_membership d where d.group_id = asked.id
      union all
      select d.* from group_member g join all_projects_membership d on d.group_id = g.group_id
      where coalesce(g.user_id, g.identity_id) = asked.id) w
    left join organization_membership own on own.organization_id = w.organization_id
      and coalesce(own.user_id, own.identity_id) = coalesce(w.user_id, w.identity_id)
    where (w.ends_at is null or now() < w.ends_at) and (own.ends_at is null or now() < own.ends_at)
      and w.organization_id in (select o.id from organization o where o.id = :organizationId or o.parent_id = :organizationId)`,
  params: { organizationId: t.uuid, memberIds: t.array(t.uuid) },
  row: {
    memberId: t.uuid,
    organizationId: t.uuid,
    role: t.text,
    permissions: t.nullable(t.json),
    termEndsAt: t.nullable(t.time),
  },
});

/** What a group has in all projects of organizations. Locked until the transaction ends. */
export const lockRolesOfGroup = sqlStatement({
  text: `select organization_id as "organizationId", role, permissions from all_projects_membership
    where group_id = :groupId and (ends_at is null or now() < ends_at) for share`,
  params: { groupId: t.uuid },
  row: { organizationId: t.uuid, role: t.text, permissions: t.nullable(t.json) },
});
