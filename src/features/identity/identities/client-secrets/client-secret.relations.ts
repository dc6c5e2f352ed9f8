import { type BatchLoad, mapFound } from '../../../../kernel/database/batched.js';
import { emOf } from '../../../../kernel/database/database.js';
import { withOwners } from '../identity.relations.js';
import { readableOwned } from '../identity-rights.js';
import { ClientSecret } from './client-secret.entity.js';
import { type ClientSecretView, toClientSecretView } from './client-secret.view.js';

/** Client secrets by id, for who may read those of their identities. */
export const clientSecretsByIds: BatchLoad<ClientSecretView> = async (ctx, ids) => {
  const { organizationId } = ctx;
  const rows = await emOf(ctx).find(ClientSecret, { id: { $in: ids }, identity: { organizationId } });
  const found = await readableOwned(ctx, {
    keys: ids,
    rows: await withOwners(ctx, rows, 'id'),
    action: 'identity:get-token',
  });
  return mapFound(found, ({ row }) => toClientSecretView(row));
};
