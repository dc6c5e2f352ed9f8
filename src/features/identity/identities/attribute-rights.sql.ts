// A union of memberships and privileges, with roles unnested in their order.
import { sqlStatement, t } from '../../../kernel/database/statement.js';

/** Memberships `m` of an identity, and of its groups. */
const ofIdentity = (table: string, columns: string): string =>
  `select ${columns} from ${table} m where coalesce(m.user_id, m.identity_id) = :identityId
      union all
      select ${columns} from group_member g join ${table} m on m.group_id = g.group_id
      where coalesce(g.user_id, g.identity_id) = :identityId`;
const ORGANIZATION_COLUMNS = `m.id, m.organization_id, null::uuid as project_id, m.group_id, m.created_at,
        array[m.role] as roles, null::jsonb as role_terms, m.ends_at`;
/** One of the identity itself ends with that of the organization. */
const PROJECT_COLUMNS = `m.id, m.organization_id, m.project_id, m.group_id, m.created_at, m.roles, m.role_terms,
        (select o.ends_at from organization_membership o
         where o.organization_id = m.organization_id and o.identity_id = m.identity_id)`;

/** Of a role of a membership; null for one that is held for good. */
const termOf = (key: 'startsAt' | 'endsAt'): string => `(m.role_terms -> listed.slug ->> '${key}')::timestamptz`;

/**
 * What an identity holds in organizations and projects where rules name attributes: roles, of its own memberships first, then
 * privileges. What has ended is not in it, and what has not begun is. Times are seconds from now.
 */
export const listHeldByAttributes = sqlStatement({
  text: `with membership as (
      ${ofIdentity('organization_membership', ORGANIZATION_COLUMNS)}
      union all
      ${ofIdentity('project_membership', PROJECT_COLUMNS)}
    ), held as (
      select m.organization_id, m.project_id, listed.slug as role, coalesce(p.permissions, o.permissions)::text as rules,
        ${termOf('startsAt')} as starts_at, least(${termOf('endsAt')}, m.ends_at) as ends_at,
        m.group_id is not null as is_of_group, m.created_at, m.id, listed.at
      from membership m cross join unnest(m.roles) with ordinality as listed(slug, at)
      left join project_role p on p.project_id = m.project_id and p.slug = listed.slug
      left join organization_role o on m.project_id is null and o.organization_id = m.organization_id and o.slug = listed.slug
      union all
      select m.organization_id, m.project_id, null, v.permissions::text, v.starts_at, least(v.ends_at, m.ends_at), false,
        v.created_at, v.id, 1
      from membership m join additional_privilege v on v.membership_id = m.id where m.group_id is null
    )
    select h.organization_id as "organizationId", h.project_id as "projectId",
      jsonb_agg(jsonb_build_object('role', h.role, 'rules', h.rules,
          'begins', greatest(extract(epoch from h.starts_at - now()), 0), 'ends', extract(epoch from h.ends_at - now()))
        order by h.role is null, h.is_of_group, h.created_at, h.id, h.at) as held
    from held h where h.ends_at is null or now() < h.ends_at
    group by 1, 2 having bool_or(h.rules like '%{{%')`,
  params: { identityId: t.uuid },
  row: { organizationId: t.uuid, projectId: t.nullable(t.uuid), held: t.json },
});
