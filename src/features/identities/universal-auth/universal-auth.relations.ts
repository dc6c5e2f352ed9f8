import { type BatchLoad, mapFound } from '../../../kernel/database/batched.js';
import { emOf } from '../../../kernel/database/database.js';
import { withOwners } from '../identity.relations.js';
import { readableOwned } from '../identity-rights.js';
import { IdentityUniversalAuth } from '../universal-auth.entity.js';
import { toUniversalAuthView, type UniversalAuthView } from './universal-auth.view.js';

/** Universal-auth configurations by the ids of identities that the response shows. */
export const universalAuthsOf: BatchLoad<UniversalAuthView> = async (ctx, identityIds) => {
  const attached = await emOf(ctx).find(IdentityUniversalAuth, { identityId: { $in: identityIds } });
  const rows = await withOwners(ctx, attached, 'identityId');
  const found = await readableOwned(ctx, { keys: identityIds, rows, action: 'identity:read' });
  return mapFound(found, ({ row }) => toUniversalAuthView(row));
};
