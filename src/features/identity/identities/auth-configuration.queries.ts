import { columnsOf, pageByNewest, prepared, tablesOf } from '../../../kernel/database/tables.js';
import type { TimeBounds } from '../../../kernel/paging.js';
import type { IdentitySchema } from '../organizations/public.js';
import { ClientSecretSchema } from './client-secret.entity.js';
import { IdentityTokenAuthSchema } from './token-auth.entity.js';

const tables = tablesOf<typeof IdentityTokenAuthSchema | typeof IdentitySchema>();

/**
 * A configuration, locked until the transaction ends. The identity first, as its deletion does: whoever makes a token and whoever
 * deletes its owner must not wait in a circle.
 */
export const lockTokenAuth = prepared(({ identityId }: { identityId: string }) =>
  tables
    .with(
      (locked) => locked('locked').materialized(),
      (query) => query.selectFrom('identity').select('id').where('id', '=', identityId).forKeyShare(),
    )
    .selectFrom('identity_token_auth')
    .select(columnsOf(IdentityTokenAuthSchema))
    .where('identity_id', '=', (query) => query.selectFrom('locked').select('id'))
    .forShare(),
);

/** The client secrets of an identity, newest first, then id. */
export const listClientSecrets = prepared((page: TimeBounds & { identityId: string }) =>
  tablesOf<typeof ClientSecretSchema>()
    .selectFrom('universal_auth_client_secret')
    .select(columnsOf(ClientSecretSchema, 'secretHash'))
    .where('identity_id', '=', page.identityId)
    .$call(pageByNewest('created_at', 'id', page)),
);
