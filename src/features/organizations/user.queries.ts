import { sql } from 'kysely';
import { inOrders, pageInOrder } from '../../kernel/database/ordered-page.js';
import { anyOf, prepared, tablesOf } from '../../kernel/database/tables.js';
import type { OrderedBounds } from '../../kernel/list-order.js';
import type { OrganizationMembershipSchema } from './core/membership.entity.js';
import type { UserSchema } from './user.entity.js';

const tables = tablesOf<typeof UserSchema | typeof OrganizationMembershipSchema>();

/** Users with their role in the organization that owns them. */
const users = () =>
  tables
    .selectFrom('app_user as u')
    .innerJoin('organization_membership as m', (join) =>
      join.onRef('m.organization_id', '=', 'u.organization_id').onRef('m.user_id', '=', 'u.id'),
    )
    .select([
      'u.id',
      'u.username',
      'u.organization_id as organizationId',
      'm.role as roleSlug',
      'u.created_at as createdAt',
      'u.updated_at as updatedAt',
    ]);

/** Users of an organization, in no order. */
export const findUsers = prepared(({ ids, organizationId }: { ids: readonly string[]; organizationId: string }) =>
  users().where('u.id', '=', anyOf(ids)).where('u.organization_id', '=', organizationId),
);

/** A user as services pass it on. */
export type UserView = Awaited<ReturnType<typeof findUsers>>[number];

const ORDER_COLUMNS = { id: 'u.id', name: 'u.username', createdAt: 'u.created_at', updatedAt: 'u.updated_at' };

/** Users of an organization in an order, then by id. */
export const listUsers = inOrders((shape) =>
  prepared((page: OrderedBounds & { organizationId: string }) =>
    users()
      .where('u.organization_id', '=', page.organizationId)
      .$call(pageInOrder(ORDER_COLUMNS, shape, page)),
  ),
);

/** How many users organizations have. */
export const countUsers = prepared(({ organizationIds }: { organizationIds: readonly string[] }) =>
  tables
    .selectFrom('app_user')
    .select(['organization_id as organizationId', sql<number>`count(*)::integer`.as('count')])
    .where('organization_id', '=', anyOf(organizationIds))
    .groupBy('organization_id'),
);
