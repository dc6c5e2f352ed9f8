import { type InferResult, sql } from 'kysely';
import { inOrders, pageInOrder } from '../../../kernel/database/ordered-page.js';
import { arrayOfHiddenLength } from '../../../kernel/database/plans.sql.js';
import { sqlStatement, t } from '../../../kernel/database/statement.js';
import { anyOf, prepared, tablesOf } from '../../../kernel/database/tables.js';
import type { OrderedBounds } from '../../../kernel/list-order.js';
import type { OrganizationMembershipSchema, UserSchema } from '../../identity/organizations/public.js';
import { attributesNamedIn } from '../../identity/permissions/public.js';
import type { ProjectMembershipSchema } from '../core/membership.entity.js';
import { MEMBER_KINDS, type MemberKind } from './membership.rules.js';

// Memberships as they are read.

const tables = tablesOf<typeof ProjectMembershipSchema | typeof OrganizationMembershipSchema | typeof UserSchema>();

const KIND = sql<MemberKind>`case when m.user_id is not null then 'user' when m.identity_id is not null then 'identity' else 'group' end`;

const memberships = tables
  .selectFrom('project_membership as m')
  .select(['m.id', 'm.project_id as projectId', 'm.name', 'm.roles as roleSlugs', 'm.role_terms as roleTerms'])
  .select(['m.created_at as createdAt', 'm.updated_at as updatedAt'])
  .select([
    KIND.as('memberKind'),
    sql<string>`coalesce(m.user_id, m.identity_id, m.group_id)`.as('memberId'),
    sql<string | null>`(select g.slug from member_group g where g.id = m.group_id)`.as('groupSlug'),
    /** Slugs of the roles that are active now. */
    sql<readonly string[]>`case when m.role_terms is null then m.roles else roles_now(m.roles, m.role_terms) end`.as(
      'activeSlugs',
    ),
  ]);

/** A membership as read from the database. */
export type MembershipRow = InferResult<typeof memberships>[number];

const membershipOf = (column: 'm.user_id' | 'm.identity_id' | 'm.group_id') =>
  prepared(({ projectId, memberId }: { projectId: string; memberId: string }) =>
    memberships.where('m.project_id', '=', projectId).where(column, '=', memberId),
  );
export const findOneMembership = {
  user: membershipOf('m.user_id'),
  identity: membershipOf('m.identity_id'),
  group: membershipOf('m.group_id'),
} as const satisfies Record<MemberKind, unknown>;

/** Memberships of the organization, in no order. */
export const findMemberships = prepared(({ ids, organizationId }: { ids: readonly string[]; organizationId: string }) =>
  memberships.where('m.id', '=', anyOf(ids)).where('m.organization_id', '=', organizationId),
);

/** Memberships of some users, by name, then ID. */
export const listMembershipsOfUsers = prepared(
  ({ projectId, userIds }: { projectId: string; userIds: readonly string[] }) =>
    memberships
      .where('m.project_id', '=', projectId)
      .where('m.user_id', '=', anyOf(userIds))
      .orderBy('m.name')
      .orderBy('m.id'),
);

/** Memberships of many users, identities and groups in the organization, by ID. */
export const listMembershipsOfMembers = prepared(
  ({ memberIds, organizationId }: { memberIds: readonly string[]; organizationId: string }) =>
    memberships
      .where((m) => {
        const any = anyOf(memberIds);
        return m.or([m('m.user_id', '=', any), m('m.identity_id', '=', any), m('m.group_id', '=', any)]);
      })
      .where('m.organization_id', '=', organizationId)
      .orderBy('m.id'),
);

const ORDER_COLUMNS = { id: 'm.id', name: 'm.name', createdAt: 'm.created_at', updatedAt: 'm.updated_at' };

/**
 * A page of the memberships of each of many projects, of some kinds, in an order, then by ID. Each kind is in the order of an index, so
 * that others are not read, and those are merged.
 */
export const listMembershipsInOrder = inOrders((shape) =>
  prepared((page: OrderedBounds & { projectIds: readonly string[]; kinds: readonly MemberKind[] }) => {
    const ofKinds = MEMBER_KINDS.map((kind) => {
      const ofKind = memberships
        .where('m.project_id', '=', sql<string>`project.id`)
        .where(KIND, '=', sql.lit(kind))
        .where(sql<boolean>`${sql.lit(kind)} = any(${page.kinds}::text[])`)
        .$call(pageInOrder(ORDER_COLUMNS, shape, page));
      return sql`(${ofKind})`;
    });
    const { field, direction } = shape.order;
    const key = { NAME: sql`name collate "C"`, CREATED_AT: sql`"createdAt"`, UPDATED_AT: sql`"updatedAt"` }[field];
    const order = sql.raw(direction);
    return tables
      .selectFrom(sql<{ id: string }>`unnest(${page.projectIds}::uuid[])`.as<'project'>(sql`project (id)`))
      .crossJoinLateral(
        sql<MembershipRow>`(select * from (${sql.join(ofKinds, sql` union all `)}) member
          order by ${key} ${order}, id ${order} limit ${page.limit}::integer)`.as('page'),
      )
      .selectAll('page');
  }),
);

/** How many members of each kind projects have. */
export const countMembersOfProjects = prepared(({ projectIds }: { projectIds: readonly string[] }) =>
  tables
    .selectFrom('project_membership as m')
    .select(['m.project_id as projectId', KIND.as('memberKind'), sql<number>`count(*)::integer`.as('count')])
    .where('m.project_id', '=', anyOf(projectIds))
    .groupBy(['m.project_id', KIND]),
);

/** Users of the organization, its own or of the root above it, by username. */
export const findUsersByName = prepared(
  (asked: { organizationId: string; rootOrganizationId: string; usernames: readonly string[] }) =>
    tables
      .selectFrom('app_user as u')
      .innerJoin('organization_membership as om', 'om.user_id', 'u.id')
      .distinctOn('u.username')
      .select(['u.username', 'u.id'])
      .where('om.organization_id', '=', asked.organizationId)
      .where(sql<boolean>`u.organization_id in (${asked.organizationId}, ${asked.rootOrganizationId})`)
      .where('u.username', '=', sql<string>`any(${asked.usernames}::text[])`)
      .orderBy('u.username')
      .orderBy((u) => u('u.organization_id', '=', asked.organizationId), 'desc'),
);

// Who is meant: members by what a request names them by; identities, groups and privileges are of slices that stand on this one.

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
 * What members have in a project besides the roles of a membership: whether they have roles of another membership, or of
 * one of all projects (for a group, whether one of its members has), and the stored rules of each privilege.
 */
export const listOtherRights = sqlStatement({
  text: `select w.id as "memberId",
      exists (select from (
          select w.id as holder_id
          union all select coalesce(user_id, identity_id) from group_member where group_id = w.id) h
        join project_membership o on o.project_id = :projectId and coalesce(o.user_id, o.identity_id, o.group_id) <> w.id
        left join group_member g on g.group_id = o.group_id
        where h.holder_id in (o.user_id, o.identity_id, g.user_id, g.identity_id))
      or exists (select from (
          select w.id as holder_id
          union all select coalesce(user_id, identity_id) from group_member where group_id = w.id) h
        join all_projects_membership o on o.organization_id = (select p.organization_id from project p where p.id = :projectId)
        left join group_member g on g.group_id = o.group_id
        where h.holder_id in (o.user_id, o.identity_id, o.group_id, g.user_id, g.identity_id)) as "hasMore",
      (select jsonb_agg(v.permissions order by v.created_at, v.id)
        from project_membership m join additional_privilege v on v.membership_id = m.id
        where m.project_id = :projectId and coalesce(m.user_id, m.identity_id, m.group_id) = w.id) as privileges
    from unnest(:memberIds::uuid[]) as w (id)`,
  params: { projectId: t.uuid, memberIds: t.array(t.uuid) },
  row: { memberId: t.uuid, hasMore: t.boolean, privileges: t.nullable(t.jsonOf<readonly unknown[]>()) },
});

// What accounts hold: all roles and privileges in all their projects, with windows and materialized parts.

const MEMBERS = arrayOfHiddenLength(':memberIds', 'uuid');

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
export const listAssignments = sqlStatement({
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
