import { authorize } from '../../kernel/authz/ability.js';
import type { BatchLoad } from '../../kernel/database/batched.js';
import { query } from '../../kernel/database/database.js';
import { ORGANIZATION_COLUMNS, type OrganizationView, toOrganizationView } from './organization.reader.js';
import { SELECT_USER, toUserView, type UserView } from './user.reader.js';

/** Organizations that answers lead to by their ids: those that the scope of the caller can see, for whoever may read them. */
export const organizationsByIds: BatchLoad<OrganizationView> = async (ctx, ids) => {
  authorize(ctx, 'organization:read');
  const rows = await query<OrganizationView>(
    ctx,
    `select ${ORGANIZATION_COLUMNS} from organization o
     where o.id = any($1::uuid[]) and (o.id in ($2, $3) or o.parent_id = $2)`,
    [ids, ctx.organizationId, ctx.rootOrganizationId],
  );
  return new Map(rows.map((row) => [row.id, toOrganizationView(row)]));
};

/** Users that answers lead to by their ids: those of the caller's organization, for whoever may read members. */
export const usersByIds: BatchLoad<UserView> = async (ctx, ids) => {
  authorize(ctx, 'member:read');
  const rows = await query<UserView>(ctx, `${SELECT_USER} where u.id = any($1::uuid[]) and u.organization_id = $2`, [
    ids,
    ctx.organizationId,
  ]);
  return new Map(rows.map((row) => [row.id, toUserView(row)]));
};
