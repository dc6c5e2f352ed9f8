import { sql } from 'kysely';
import { inOrders, pageInOrder } from '../../../kernel/database/ordered-page.js';
import { anyOf, prepared, tablesOf } from '../../../kernel/database/tables.js';
import type { OrderedBounds } from '../../../kernel/list-order.js';
import type { OrganizationMembershipSchema } from './core/membership.entity.js';
import type { Member } from './memberships/memberships.js';

const tables = tablesOf<typeof OrganizationMembershipSchema>();

/** Memberships. Not of groups, and not of identities of projects, which have no name here: these are known in their projects alone. */
const members = tables
  .selectFrom('organization_membership as m')
  .select([
    'm.id',
    sql<Member['kind']>`case when m.user_id is null then 'identity' else 'user' end`.as('memberKind'),
    sql<string>`coalesce(m.user_id, m.identity_id)`.as('memberId'),
    'm.name',
    'm.organization_id as organizationId',
    'm.role as roleSlug',
    'm.ends_at as endsAt',
    'm.created_at as createdAt',
    'm.updated_at as updatedAt',
  ])
  .where('m.name', '<>', sql.lit(''));

/** Memberships of an organization and, if asked for, of those below it. */
export const findMembers = prepared(
  ({ ids, organizationId, isBelowToo }: { ids: readonly string[]; organizationId: string; isBelowToo: boolean }) =>
    members.where('m.id', '=', anyOf(ids)).where(
      sql<boolean>`(m.organization_id = ${organizationId} or ${isBelowToo}
        and exists (select from organization o where o.id = m.organization_id and o.parent_id = ${organizationId}))`,
    ),
);

const ORDER_COLUMNS = { id: 'm.id', name: 'm.name', createdAt: 'm.created_at', updatedAt: 'm.updated_at' };

/** The members of an organization in an order. */
export const listMembers = inOrders((shape) =>
  prepared((page: OrderedBounds & { organizationId: string }) =>
    members.where('m.organization_id', '=', page.organizationId).$call(pageInOrder(ORDER_COLUMNS, shape, page)),
  ),
);

/** How many members organizations have. */
export const countMembersOfOrganizations = prepared(({ organizationIds }: { organizationIds: readonly string[] }) =>
  members
    .clearSelect()
    .select(['m.organization_id as organizationId', sql<number>`count(*)::integer`.as('count')])
    .where('m.organization_id', '=', anyOf(organizationIds))
    .groupBy('m.organization_id'),
);
