import { columnsOf, pageByNewest, prepared, tablesOf } from '../../../../kernel/database/tables.js';
import type { TimeBounds } from '../../../../kernel/paging.js';
import { ClientSecretSchema } from './client-secret.entity.js';

/** The client secrets of an identity, newest first, then id. */
export const listClientSecrets = prepared((page: TimeBounds & { identityId: string }) =>
  tablesOf<typeof ClientSecretSchema>()
    .selectFrom('universal_auth_client_secret')
    .select(columnsOf(ClientSecretSchema, 'secretHash'))
    .where('identity_id', '=', page.identityId)
    .$call(pageByNewest('created_at', 'id', page)),
);
