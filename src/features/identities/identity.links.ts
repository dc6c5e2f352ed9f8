import { authorize } from '../../kernel/authz/ability.js';
import type { BatchLoad } from '../../kernel/database/batched.js';
import { findIdentities } from './identity.queries.js';
import { type IdentityView, toIdentityView } from './identity.reader.js';
import { findTokenAuths } from './token-auth.queries.js';
import { type TokenAuthView, toTokenAuthView } from './token-auth.view.js';

/** Machine identities that answers lead to by their ids: those of the caller's organization, for whoever may read them. */
export const identitiesByIds: BatchLoad<IdentityView> = async (ctx, ids) => {
  authorize(ctx, 'identity:read');
  const rows = await findIdentities(ctx, { organizationId: ctx.organizationId, ids });
  return new Map(rows.map((row) => [row.id, toIdentityView(row)]));
};

/** Token-auth configurations by the ids of identities that the response shows. */
export const tokenAuthsOf: BatchLoad<TokenAuthView> = async (ctx, identityIds) => {
  authorize(ctx, 'identity:read');
  const rows = await findTokenAuths(ctx, { identityIds });
  return new Map(rows.map((row) => [row.identityId, toTokenAuthView(row)]));
};
