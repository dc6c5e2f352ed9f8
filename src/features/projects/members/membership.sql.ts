// Members by what a request names them by; identities, groups and privileges are of slices that stand on this one.
import { sqlStatement, t } from '../../../kernel/database/statement.js';
import type { MemberKind } from './membership.rules.js';

const NAMES = { memberId: t.uuid, name: t.text, groupSlug: t.nullable(t.text) } as const;

/** Id of the member that a membership, `named`, of a project is of; else the id that was given. */
const memberOf = (column: string): string =>
  `coalesce((select m.${column} from project_membership m where m.id = :named and m.project_id = :projectId), :named)`;

/** Who of the organization has the id, or the membership in the project. */
const memberById = (select: string, table: string, column: string) =>
  sqlStatement({
    text: `select o.id as "memberId", ${select} from ${table} o
      join organization_membership om on om.${column} = o.id and om.organization_id = :organizationId where o.id = ${memberOf(column)}`,
    params: { organizationId: t.uuid, named: t.uuid, projectId: t.uuid },
    row: NAMES,
  });
export const findMemberById = {
  user: memberById('o.username as name, null as "groupSlug"', 'app_user', 'user_id'),
  identity: memberById('o.name, null as "groupSlug"', 'identity', 'identity_id'),
  group: memberById('o.name, o.slug as "groupSlug"', 'member_group', 'group_id'),
} as const satisfies Record<MemberKind, unknown>;

/** A group by its slug, or by a name that no other has. */
export const findGroupByName = sqlStatement({
  text: `select g.id as "memberId", g.name, g.slug as "groupSlug" from member_group g
    join organization_membership om on om.group_id = g.id and om.organization_id = :organizationId
      and om.organization_id in (:organizationId, :rootOrganizationId)
    where g.slug = :named or (g.name = :named and not exists (
      select 1 from organization_membership n join member_group o on o.id = n.group_id
      where n.organization_id = :organizationId and o.id <> g.id and o.name = :named))
    order by g.slug = :named desc limit 1`,
  params: { organizationId: t.uuid, named: t.text, rootOrganizationId: t.uuid },
  row: NAMES,
});

/**
 * What members have in a project besides the roles of a membership: whether they have roles of another membership (for
 * a group, whether one of its members has), and the stored rules of each privilege.
 */
export const listBesidesRoles = sqlStatement({
  text: `select w.id as "memberId",
      exists (select from (
          select w.id as holder_id
          union all select coalesce(user_id, identity_id) from group_member where group_id = w.id) h
        join project_membership o on o.project_id = :projectId and coalesce(o.user_id, o.identity_id, o.group_id) <> w.id
        left join group_member g on g.group_id = o.group_id
        where h.holder_id in (o.user_id, o.identity_id, g.user_id, g.identity_id)) as "hasMore",
      (select jsonb_agg(v.permissions order by v.created_at, v.id)
        from project_membership m join additional_privilege v on v.membership_id = m.id
        where m.project_id = :projectId and coalesce(m.user_id, m.identity_id, m.group_id) = w.id) as privileges
    from unnest(:memberIds::uuid[]) as w (id)`,
  params: { projectId: t.uuid, memberIds: t.array(t.uuid) },
  row: { memberId: t.uuid, hasMore: t.boolean, privileges: t.nullable(t.jsonOf<readonly unknown[]>()) },
});
