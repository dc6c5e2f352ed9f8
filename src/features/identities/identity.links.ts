import { can } from '../../kernel/authz/ability.js';
import type { BatchLoad } from '../../kernel/database/batched.js';
import { query } from '../../kernel/database/database.js';
import { type IdentityView, SELECT_IDENTITY, toIdentityView } from './identity.reader.js';

/** Machine identities that answers lead to by their ids: those of the caller's organization, for whoever may read them. */
export const identitiesByIds: BatchLoad<IdentityView> = async (ctx, ids) => {
  if (!can(ctx.ability, 'identity:read')) return new Map();
  const rows = await query<IdentityView>(
    ctx,
    `${SELECT_IDENTITY} where i.id = any($1::uuid[]) and i.organization_id = $2`,
    [ids, ctx.organizationId],
  );
  return new Map(rows.map((row) => [row.id, toIdentityView(row)]));
};
