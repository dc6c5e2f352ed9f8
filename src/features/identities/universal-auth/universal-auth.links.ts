import { authorize } from '../../../kernel/authz/ability.js';
import type { BatchLoad } from '../../../kernel/database/batched.js';
import { findUniversalAuths } from './universal-auth.queries.js';
import { toUniversalAuthView, type UniversalAuthView } from './universal-auth.view.js';

/** Universal-auth configurations by the ids of identities that the response shows. */
export const universalAuthsOf: BatchLoad<UniversalAuthView> = async (ctx, identityIds) => {
  authorize(ctx, 'identity:read');
  const rows = await findUniversalAuths(ctx, { identityIds });
  return new Map(rows.map((row) => [row.identityId, toUniversalAuthView(row)]));
};
