import { authorize } from '../../../kernel/authz/ability.js';
import type { BatchLoad } from '../../../kernel/database/batched.js';
import { findClientSecrets } from './client-secret.queries.js';
import { type ClientSecretView, toClientSecretView } from './client-secret.view.js';

/** Client secrets by id: those of the identities of the caller's organization, if the caller may read client secrets. */
export const clientSecretsByIds: BatchLoad<ClientSecretView> = async (ctx, ids) => {
  authorize(ctx, 'identity:get-token');
  const rows = await findClientSecrets(ctx, { organizationId: ctx.organizationId, ids });
  return new Map(rows.map((row) => [row.id, toClientSecretView(row)]));
};
