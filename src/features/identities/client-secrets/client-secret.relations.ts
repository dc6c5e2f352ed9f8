import { type BatchLoad, mapFound } from '../../../kernel/database/batched.js';
import { withOwners } from '../identity.relations.js';
import { readableOwned } from '../identity-rights.js';
import { findClientSecrets } from './client-secret.queries.js';
import { type ClientSecretView, toClientSecretView } from './client-secret.view.js';

/** Client secrets by id, for who may read those of their identities. */
export const clientSecretsByIds: BatchLoad<ClientSecretView> = async (ctx, ids) => {
  const rows = await findClientSecrets(ctx, { organizationId: ctx.organizationId, ids });
  const found = await readableOwned(ctx, {
    keys: ids,
    rows: await withOwners(ctx, rows, 'id'),
    action: 'identity:get-token',
  });
  return mapFound(found, ({ row }) => toClientSecretView(row));
};
