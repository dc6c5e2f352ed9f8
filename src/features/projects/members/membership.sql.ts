import { inOrders, orderedText } from '../../../kernel/database/ordered-page.js';
import { sqlStatement, t } from '../../../kernel/database/statement.js';
import { MEMBER_KINDS, type MemberKind } from './membership.rules.js';
import type { RoleTerms } from './role-terms.rules.js';

const KIND = `case when m.user_id is not null then 'user' when m.identity_id is not null then 'identity' else 'group' end`;
const SELECT = `select m.id, m.project_id as "projectId", ${KIND} as "memberKind",
    coalesce(m.user_id, m.identity_id, m.group_id) as "memberId", m.name,
    (select g.slug from member_group g where g.id = m.group_id) as "groupSlug",
    m.roles as "roleSlugs", m.role_terms as "roleTerms",
    case when m.role_terms is null then m.roles else roles_now(m.roles, m.role_terms) end as "activeSlugs",
    m.created_at as "createdAt", m.updated_at as "updatedAt"
  from project_membership m`;
const MEMBERSHIP = {
  id: t.uuid,
  projectId: t.uuid,
  memberKind: t.oneOf(...MEMBER_KINDS),
  memberId: t.uuid,
  name: t.text,
  groupSlug: t.nullable(t.text),
  roleSlugs: t.array(t.text),
  roleTerms: t.nullable(t.jsonOf<RoleTerms>()),
  /** Slugs of the roles that are active now. */
  activeSlugs: t.array(t.text),
  createdAt: t.time,
  updatedAt: t.time,
} as const;

const ORDER = `order by m.name, m.id`;

const membershipOf = (column: string) =>
  sqlStatement({
    text: `${SELECT} where m.project_id = :projectId and m.${column} = :memberId`,
    params: { projectId: t.uuid, memberId: t.uuid },
    row: MEMBERSHIP,
  });
export const FIND_MEMBERSHIP = {
  user: membershipOf('user_id'),
  identity: membershipOf('identity_id'),
  group: membershipOf('group_id'),
} as const satisfies Record<MemberKind, unknown>;

/** Memberships of the organization, in no order. */
export const findMemberships = sqlStatement({
  text: `${SELECT} where m.id = any(:ids::uuid[]) and m.organization_id = :organizationId`,
  params: { ids: t.array(t.uuid), organizationId: t.uuid },
  row: MEMBERSHIP,
});

/** Memberships of some users, by name, then ID. */
export const listMembershipsOfUsers = sqlStatement({
  text: `${SELECT} where m.project_id = :projectId and m.user_id = any(:userIds::uuid[]) ${ORDER}`,
  params: { projectId: t.uuid, userIds: t.array(t.uuid) },
  row: MEMBERSHIP,
});

/** Memberships of many users, identities and groups in the organization, by ID. */
export const listMembershipsOfMembers = sqlStatement({
  text: `${SELECT} where (m.user_id = any(:memberIds::uuid[]) or m.identity_id = any(:memberIds::uuid[]) or m.group_id = any(:memberIds::uuid[]))
    and m.organization_id = :organizationId order by m.id`,
  params: { memberIds: t.array(t.uuid), organizationId: t.uuid },
  row: MEMBERSHIP,
});

const ORDER_COLUMNS = { id: 'm.id', name: 'm.name', createdAt: 'm.created_at', updatedAt: 'm.updated_at' };
const PAGE_COLUMNS = { id: 'id', name: 'name', createdAt: '"createdAt"', updatedAt: '"updatedAt"' };
const ORDER_PARAMS = { value: ':value', id: ':id', since: ':since', limit: ':limit::integer' };

/**
 * A page of the memberships of each of many projects, of some kinds, in an order, then by ID. Each kind is in the order of an index, so
 * that others are not read, and those are merged.
 */
export const listMembershipsInOrder = inOrders((shape) => {
  const { condition, rest } = orderedText(ORDER_COLUMNS, shape, ORDER_PARAMS);
  const kinds = MEMBER_KINDS.map(
    (kind) => `(${SELECT} where m.project_id = project.id and ${KIND} = '${kind}' and '${kind}' = any(:kinds::text[])
      and ${condition} ${rest})`,
  );
  return sqlStatement({
    text: `select page.* from unnest(:projectIds::uuid[]) project (id) cross join lateral (
      select * from (${kinds.join(' union all ')}) member ${orderedText(PAGE_COLUMNS, shape, ORDER_PARAMS).rest}) page`,
    params: {
      projectIds: t.array(t.uuid),
      kinds: t.array(t.oneOf(...MEMBER_KINDS)),
      value: t.nullable(t.text),
      id: t.nullable(t.uuid),
      since: t.nullable(t.time),
      limit: t.nullable(t.integer),
    },
    row: MEMBERSHIP,
  });
});

/** How many members of each kind projects have. */
export const countMembersOfProjects = sqlStatement({
  text: `select m.project_id as "projectId", ${KIND} as "memberKind", count(*)::integer as count
    from project_membership m where m.project_id = any(:projectIds::uuid[]) group by 1, 2`,
  params: { projectIds: t.array(t.uuid) },
  row: { projectId: t.uuid, memberKind: t.oneOf(...MEMBER_KINDS), count: t.integer },
});

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
export const FIND_BY_ID = {
  user: memberById('o.username as name, null as "groupSlug"', 'app_user', 'user_id'),
  identity: memberById('o.name, null as "groupSlug"', 'identity', 'identity_id'),
  group: memberById('o.name, o.slug as "groupSlug"', 'member_group', 'group_id'),
} as const satisfies Record<MemberKind, unknown>;

const NAMED = { organizationId: t.uuid, named: t.text, rootOrganizationId: t.uuid } as const;

/** A user by its username, of the organization or else of the root above it. */
const findUserByName = sqlStatement({
  text: `select u.id as "memberId", u.username as name, null as "groupSlug" from app_user u
    join organization_membership om on om.user_id = u.id and om.organization_id = :organizationId
    where u.organization_id in (:organizationId, :rootOrganizationId) and u.username = :named
    order by u.organization_id = :organizationId desc limit 1`,
  params: NAMED,
  row: NAMES,
});

/** A group by its slug, or by a name that no other has. */
const findGroupByName = sqlStatement({
  text: `select g.id as "memberId", g.name, g.slug as "groupSlug" from member_group g
    join organization_membership om on om.group_id = g.id and om.organization_id = :organizationId
      and om.organization_id in (:organizationId, :rootOrganizationId)
    where g.slug = :named or (g.name = :named and not exists (
      select 1 from organization_membership n join member_group o on o.id = n.group_id
      where n.organization_id = :organizationId and o.id <> g.id and o.name = :named))
    order by g.slug = :named desc limit 1`,
  params: NAMED,
  row: NAMES,
});

/** Users of the organization, its own or of the root above it, by username. */
export const findUsersByName = sqlStatement({
  text: `select distinct on (u.username) u.username, u.id
    from app_user u join organization_membership om on om.user_id = u.id and om.organization_id = :organizationId
    where u.organization_id in (:organizationId, :rootOrganizationId) and u.username = any(:usernames::text[])
    order by u.username, u.organization_id = :organizationId desc`,
  params: { organizationId: t.uuid, rootOrganizationId: t.uuid, usernames: t.array(t.text) },
  row: { username: t.text, id: t.uuid },
});

/** The current time of the database. */
export const findNow = sqlStatement({ text: 'select now() as now', params: {}, row: { now: t.time } });

/**
 * What some users, identities and groups have in a project besides the roles of a membership. `hasMore`: one of them has roles of
 * another membership; for a group, one of its members has. `privileges`: the stored rules of each privilege; null for none.
 */
export const findBesides = sqlStatement({
  text: `with own as (select id from project_membership
      where project_id = :projectId
        and (user_id = any(:user::uuid[]) or identity_id = any(:identity::uuid[]) or group_id = any(:group::uuid[]))),
    holder as (select unnest(:user::uuid[] || :identity::uuid[]) as id
      union all select coalesce(user_id, identity_id) from group_member where group_id = any(:group::uuid[]))
  select exists (
      select 1 from holder join project_membership o on o.project_id = :projectId left join group_member g on g.group_id = o.group_id
      where holder.id in (o.user_id, o.identity_id, g.user_id, g.identity_id)
        and not exists (select 1 from own where own.id = o.id)) as "hasMore",
    (select json_agg(v.permissions order by v.created_at, v.id) from additional_privilege v
     where v.membership_id in (select id from own)) as privileges`,
  params: { projectId: t.uuid, user: t.array(t.uuid), identity: t.array(t.uuid), group: t.array(t.uuid) },
  row: { hasMore: t.boolean, privileges: t.nullable(t.builtJsonOf<readonly unknown[]>()) },
});

export const FIND_BY_NAME = { user: findUserByName, group: findGroupByName } as const;
