import { authorize } from '../../kernel/authz/ability.js';
import type { Context } from '../../kernel/context.js';
import type { BatchLoad } from '../../kernel/database/batched.js';
import { query } from '../../kernel/database/database.js';
import { ORGANIZATION_COLUMNS, type OrganizationView, toOrganizationView } from './organization.reader.js';
import { SELECT_USER, toUserView, type UserView } from './user.reader.js';

/** Organizations that answers lead to by their ids: those that the scope of the caller can see. @throws PERMISSION_DENIED */
export const organizationsByIds: BatchLoad<OrganizationView> = async (ctx, ids) => {
  authorize(ctx, 'organization:read');
  return organizationsInScope(ctx, ids);
};

/** The organization of the caller's token, which it may know of whatever its rights. */
export const ownOrganization = async (ctx: Context): Promise<OrganizationView | null> =>
  (await organizationsInScope(ctx, [ctx.organizationId])).get(ctx.organizationId) ?? null;

/** Users that answers lead to by their ids: those of the caller's organization. @throws PERMISSION_DENIED */
export const usersByIds: BatchLoad<UserView> = async (ctx, ids) => {
  authorize(ctx, 'member:read');
  return usersInScope(ctx, ids);
};

/** The user that calls, who may know of itself whatever its rights. */
export const ownUser = async (ctx: Context): Promise<UserView | null> =>
  (await usersInScope(ctx, [ctx.actor.id])).get(ctx.actor.id) ?? null;

async function organizationsInScope(ctx: Context, ids: readonly string[]): Promise<Map<string, OrganizationView>> {
  const rows = await query<OrganizationView>(
    ctx,
    `select ${ORGANIZATION_COLUMNS} from organization o
     where o.id = any($1::uuid[]) and (o.id in ($2, $3) or o.parent_id = $2)`,
    [ids, ctx.organizationId, ctx.rootOrganizationId],
  );
  return new Map(rows.map((row) => [row.id, toOrganizationView(row)]));
}

async function usersInScope(ctx: Context, ids: readonly string[]): Promise<Map<string, UserView>> {
  const rows = await query<UserView>(ctx, `${SELECT_USER} where u.id = any($1::uuid[]) and u.organization_id = $2`, [
    ids,
    ctx.organizationId,
  ]);
  return new Map(rows.map((row) => [row.id, toUserView(row)]));
}
