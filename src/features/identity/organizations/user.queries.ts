import { inOrders, pageInOrder } from '../../../kernel/database/ordered-page.js';
import { anyOf, columnsIn, prepared, tablesOf } from '../../../kernel/database/tables.js';
import type { OrderedBounds } from '../../../kernel/list-order.js';
import type { OrganizationMembershipSchema } from './core/membership.entity.js';
import { UserSchema } from './core/user.entity.js';

const tables = tablesOf<typeof UserSchema | typeof OrganizationMembershipSchema>();

/** Users with their role in the organization that owns them. */
const users = () =>
  tables
    .selectFrom('app_user as u')
    .innerJoin('organization_membership as m', (join) =>
      join.onRef('m.organization_id', '=', 'u.organization_id').onRef('m.user_id', '=', 'u.id'),
    )
    .select([...columnsIn('u', UserSchema), 'm.role as roleSlug']);

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
