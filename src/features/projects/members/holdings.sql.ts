// All roles and privileges of accounts in all their projects, with windows and materialized parts.
import { plannedOnce } from '../../../kernel/database/plans.sql.js';
import { sqlStatement, t } from '../../../kernel/database/statement.js';
import { attributesNamedIn } from '../../identity/permissions/public.js';

const MEMBERS = plannedOnce(':memberIds', 'uuid');

/** Direct memberships of accounts, which end with those of the organization, and memberships of their groups. */
const MEMBERSHIPS = `
  select d.id, d.project_id, coalesce(d.user_id, d.identity_id) as member_id, d.group_id, d.roles, d.role_terms, d.created_at, o.ends_at
  from project_membership d
  join organization_membership o on o.organization_id = d.organization_id
    and coalesce(o.user_id, o.identity_id) = coalesce(d.user_id, d.identity_id)
  where coalesce(d.user_id, d.identity_id) = any(${MEMBERS}) and (o.ends_at is null or now() < o.ends_at)
  union all
  select d.id, d.project_id, coalesce(g.user_id, g.identity_id), d.group_id, d.roles, d.role_terms, d.created_at, null
  from group_member g join project_membership d on d.group_id = g.group_id
  where coalesce(g.user_id, g.identity_id) = any(${MEMBERS})`;

/**
 * Each role and privilege of accounts in projects of an organization and of its sub-organizations, in the order of
 * evaluation, with start and end. Ended terms are left out, and terms that have not begun are included. The text of
 * equal rules is included once.
 */
export const listHeld = sqlStatement({
  text: `with m as materialized (${MEMBERSHIPS}), held as (
      select m.member_id, m.project_id, m.created_at, m.id, 0 as kind, m.group_id is not null as is_of_group, role.at,
        role.slug, r.permissions_digest, r.permissions::text as permissions,
        ${attributesNamedIn('r', 'm.member_id')} as attributes,
        (m.role_terms -> role.slug ->> 'startsAt')::timestamptz as starts_at,
        (m.role_terms -> role.slug ->> 'endsAt')::timestamptz as term_ends_at, m.ends_at as membership_ends_at
      from m cross join unnest(m.roles) with ordinality as role(slug, at)
      left join project_role r on r.project_id = m.project_id and r.slug = role.slug
      union all
      select m.member_id, m.project_id, v.created_at, v.id, 1, false, 0,
        null, v.permissions_digest, v.permissions::text,
        ${attributesNamedIn('v', 'm.member_id')},
        v.starts_at, v.ends_at, m.ends_at
      from m join additional_privilege v on v.membership_id = m.id
      where m.group_id is null
    )
    select held.member_id as "memberId", held.project_id as "projectId", held.slug, held.permissions_digest as digest,
      case when row_number() over (partition by held.permissions_digest order by held.id) = 1 then held.permissions end as rules,
      held.attributes, coalesce(held.starts_at <= now(), true) as "hasBegun", held.term_ends_at as "termEndsAt",
      least(held.term_ends_at, held.membership_ends_at) as "endsAt"
    from held join project p on p.id = held.project_id
    where (held.term_ends_at is null or now() < held.term_ends_at)
      and (held.membership_ends_at is null or now() < held.membership_ends_at)
      and p.organization_id in (select o.id from organization o where o.id = :organizationId or o.parent_id = :organizationId)
    order by held.member_id, held.project_id, held.kind, held.is_of_group, held.created_at, held.id, held.at`,
  params: { organizationId: t.uuid, memberIds: t.array(t.uuid) },
  row: {
    memberId: t.uuid,
    projectId: t.uuid,
    slug: t.nullable(t.text),
    digest: t.nullable(t.text),
    rules: t.nullable(t.text),
    attributes: t.nullable(t.text),
    hasBegun: t.boolean,
    termEndsAt: t.nullable(t.time),
    endsAt: t.nullable(t.time),
  },
});
