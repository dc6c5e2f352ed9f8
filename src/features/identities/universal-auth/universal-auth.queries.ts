import { sql } from '@mikro-orm/core';
import type { z } from 'zod';
import type { Transaction } from '../../../kernel/context.js';
import { anyOf, prepared, tablesOf } from '../../../kernel/database/tables.js';
import { TOKEN_AUTH_COLUMNS, tokenSettingsOf } from '../token-auth.queries.js';
import { toRanges } from '../token-auth.rules.js';
import { IdentityUniversalAuth, type IdentityUniversalAuthSchema } from '../universal-auth.entity.js';
import type { UpdateUniversalAuth } from './universal-auth.rules.js';

const tables = tablesOf<typeof IdentityUniversalAuthSchema>();

/** A configuration, in the names of its entity. */
export const UNIVERSAL_AUTH_COLUMNS = [
  ...TOKEN_AUTH_COLUMNS,
  'client_id as clientId',
  'client_secret_trusted_ips as clientSecretTrustedIps',
] as const;

export const findUniversalAuth = prepared(({ identityId }: { identityId: string }) =>
  tables.selectFrom('identity_universal_auth').select(UNIVERSAL_AUTH_COLUMNS).where('identity_id', '=', identityId),
);

/** Configurations of many identities, in no order. */
export const findUniversalAuths = prepared(({ identityIds }: { identityIds: readonly string[] }) =>
  tables
    .selectFrom('identity_universal_auth')
    .select(UNIVERSAL_AUTH_COLUMNS)
    .where('identity_id', '=', anyOf(identityIds)),
);

/** No row: there was none. */
export const deleteUniversalAuth = prepared(({ identityId }: { identityId: string }) =>
  tables.deleteFrom('identity_universal_auth').where('identity_id', '=', identityId).returning(UNIVERSAL_AUTH_COLUMNS),
);

/** No row: there was none. */
export const updateUniversalAuth = (
  tx: Transaction,
  { identityId, clientSecretTrustedIps: networks, ...changes }: z.output<typeof UpdateUniversalAuth>,
) =>
  tx.em
    .createQueryBuilder(IdentityUniversalAuth)
    .update({
      ...tokenSettingsOf(changes),
      ...(networks && { clientSecretTrustedIps: toRanges(networks) }),
      updatedAt: sql`now()`,
    })
    .where({ identityId })
    .returning('*')
    .execute<IdentityUniversalAuth[]>('all');
