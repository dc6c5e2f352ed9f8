import { authorize } from '../../kernel/authz/ability.js';
import type { Context } from '../../kernel/context.js';
import type { BatchLoad } from '../../kernel/database/batched.js';
import { findIdentities } from './identity.queries.js';
import { type IdentityView, toIdentityView } from './identity.reader.js';
import { findTokenAuths, type TokenAuthView, toTokenAuthView } from './token-auth.queries.js';

/** Machine identities that answers lead to by their ids: those of the caller's organization. @throws PERMISSION_DENIED */
export const identitiesByIds: BatchLoad<IdentityView> = async (ctx, ids) => {
  authorize(ctx, 'identity:read');
  return owned(ctx, ids);
};

/** The machine identity that calls: it may know of itself whatever its rights. */
export const ownIdentity = async (ctx: Context): Promise<IdentityView | null> =>
  (await owned(ctx, [ctx.actor.id])).get(ctx.actor.id) ?? null;

async function owned(ctx: Context, ids: readonly string[]): Promise<Map<string, IdentityView>> {
  const rows = await findIdentities(ctx, { organizationId: ctx.organizationId, ids });
  return new Map(rows.map((row) => [row.id, toIdentityView(row)]));
}

/** Token-auth configurations by the ids of identities that the response shows. */
export const tokenAuthsOf: BatchLoad<TokenAuthView> = async (ctx, identityIds) => {
  authorize(ctx, 'identity:read');
  const rows = await findTokenAuths(ctx, { identityIds });
  return new Map(rows.map((row) => [row.identityId, toTokenAuthView(row)]));
};
