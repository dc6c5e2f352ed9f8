import { inOrders, pageInOrder } from '../../../kernel/database/ordered-page.js';
import { anyOf, columnsIn, prepared, tablesOf } from '../../../kernel/database/tables.js';
import type { OrderedBounds } from '../../../kernel/list-order.js';
import type { OrganizationMembershipSchema } from '../organizations/public.js';
import { IdentitySchema } from '../organizations/public.js';
import type { IdentityTokenAuthSchema } from './token-auth.entity.js';
import type { IdentityUniversalAuthSchema } from './universal-auth.entity.js';

const tables = tablesOf<
  | typeof IdentitySchema
  | typeof OrganizationMembershipSchema
  | typeof IdentityTokenAuthSchema
  | typeof IdentityUniversalAuthSchema
>();

/** Identities with their role in the organization that owns them, and how they authenticate. */
const identities = () =>
  tables
    .selectFrom('identity as i')
    .innerJoin('organization_membership as m', (join) =>
      join.onRef('m.organization_id', '=', 'i.organization_id').onRef('m.identity_id', '=', 'i.id'),
    )
    .leftJoin('identity_token_auth as ta', 'ta.identity_id', 'i.id')
    .leftJoin('identity_universal_auth as ua', 'ua.identity_id', 'i.id')
    .select(columnsIn('i', IdentitySchema))
    .select(['m.role as roleSlug', 'ta.identity_id as tokenAuthId', 'ua.identity_id as universalAuthId']);

export const findIdentities = prepared(({ organizationId, ids }: { organizationId: string; ids: readonly string[] }) =>
  identities().where('i.id', '=', anyOf(ids)).where('i.organization_id', '=', organizationId),
);

/** An identity as it is read. */
export type IdentityRow = Awaited<ReturnType<typeof findIdentities>>[number];

const ORDER_COLUMNS = { id: 'i.id', name: 'i.name', createdAt: 'i.created_at', updatedAt: 'i.updated_at' };

/** Identities of an organization but those of its projects, in an order, then by id. */
export const listIdentities = inOrders((shape) =>
  prepared((page: OrderedBounds & { organizationId: string }) =>
    identities()
      .where('i.organization_id', '=', page.organizationId)
      .where('i.project_id', 'is', null)
      .$call(pageInOrder(ORDER_COLUMNS, shape, page)),
  ),
);

/** All identities that a project owns, in no order. */
export const listProjectIdentities = prepared(({ projectId }: { projectId: string }) =>
  identities().where('i.project_id', '=', projectId),
);
