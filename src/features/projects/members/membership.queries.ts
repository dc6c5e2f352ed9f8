import { type InferResult, sql } from 'kysely';
import { inOrders, pageInOrder } from '../../../kernel/database/ordered-page.js';
import { anyOf, prepared, tablesOf } from '../../../kernel/database/tables.js';
import type { OrderedBounds } from '../../../kernel/list-order.js';
import type { OrganizationMembershipSchema, UserSchema } from '../../identity/organizations/public.js';
import type { ProjectMembershipSchema } from '../core/membership.entity.js';
import { MEMBER_KINDS, type MemberKind } from './membership.rules.js';

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
