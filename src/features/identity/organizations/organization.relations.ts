import { authorize } from '../../../kernel/authz/ability.js';
import type { Context } from '../../../kernel/context.js';
import type { BatchLoad } from '../../../kernel/database/batched.js';
import { findOrganizations, type OrganizationView } from './organization.queries.js';
import { findUsers, type UserView } from './user.queries.js';

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
  const { organizationId, rootOrganizationId } = ctx;
  const rows = await findOrganizations(ctx, { ids, organizationId, rootOrganizationId });
  return new Map(rows.map((row) => [row.id, row]));
}

async function usersInScope(ctx: Context, ids: readonly string[]): Promise<Map<string, UserView>> {
  const rows = await findUsers(ctx, { ids, organizationId: ctx.organizationId });
  return new Map(rows.map((row) => [row.id, row]));
}
