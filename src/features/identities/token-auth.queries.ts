import { sql, Utils } from '@mikro-orm/core';
import type { z } from 'zod';
import type { Transaction } from '../../kernel/context.js';
import { anyOf, prepared, tablesOf } from '../../kernel/database/tables.js';
import type { IdentitySchema } from './identity.entity.js';
import { IdentityTokenAuth, type IdentityTokenAuthSchema } from './token-auth.entity.js';
import { toRanges, type UpdateTokenAuth } from './token-auth.rules.js';

const tables = tablesOf<typeof IdentityTokenAuthSchema | typeof IdentitySchema>();

/** A configuration, in the names of its entity. */
export const TOKEN_AUTH_COLUMNS = [
  'identity_id as identityId',
  'trusted_ips as trustedIps',
  'ttl_seconds as ttlSeconds',
  'max_ttl_seconds as maxTtlSeconds',
  'num_uses_limit as numUsesLimit',
  'created_at as createdAt',
  'updated_at as updatedAt',
] as const;

export const findTokenAuth = prepared(({ identityId }: { identityId: string }) =>
  tables.selectFrom('identity_token_auth').select(TOKEN_AUTH_COLUMNS).where('identity_id', '=', identityId),
);

/**
 * A configuration, held until the transaction ends. The identity first, as its deletion does: whoever makes a token and whoever
 * deletes its owner must not wait in a circle.
 */
export const holdTokenAuth = prepared(({ identityId }: { identityId: string }) =>
  tables
    .with(
      (held) => held('held').materialized(),
      (query) => query.selectFrom('identity').select('id').where('id', '=', identityId).forKeyShare(),
    )
    .selectFrom('identity_token_auth')
    .select(TOKEN_AUTH_COLUMNS)
    .where('identity_id', '=', (query) => query.selectFrom('held').select('id'))
    .forShare(),
);

/** Configurations of many identities, in no order. */
export const findTokenAuths = prepared(({ identityIds }: { identityIds: readonly string[] }) =>
  tables.selectFrom('identity_token_auth').select(TOKEN_AUTH_COLUMNS).where('identity_id', '=', anyOf(identityIds)),
);

/** No row: there was none. */
export const deleteTokenAuth = prepared(({ identityId }: { identityId: string }) =>
  tables.deleteFrom('identity_token_auth').where('identity_id', '=', identityId).returning(TOKEN_AUTH_COLUMNS),
);

/** No row: there was none. */
export const updateTokenAuth = (tx: Transaction, { identityId, ...changes }: z.output<typeof UpdateTokenAuth>) =>
  tx.em
    .createQueryBuilder(IdentityTokenAuth)
    .update({ ...tokenSettingsOf(changes), updatedAt: sql`now()` })
    .where({ identityId })
    .returning('*')
    .execute<IdentityTokenAuth[]>('all');

/** The settings that change. */
export const tokenSettingsOf = (changes: Omit<z.output<typeof UpdateTokenAuth>, 'identityId'>) => {
  const settings = {
    trustedIps: changes.accessTokenTrustedIps && toRanges(changes.accessTokenTrustedIps),
    ttlSeconds: changes.accessTokenTTL,
    maxTtlSeconds: changes.accessTokenMaxTTL,
    numUsesLimit: changes.accessTokenNumUsesLimit,
  };
  Utils.dropUndefinedProperties(settings);
  return settings;
};

/** The token-auth configuration of an identity as services pass it on, in the names of the interface. */
export interface TokenAuthView {
  readonly identityId: string;
  readonly accessTokenTrustedIps: { readonly ipAddress: string }[];
  readonly accessTokenTTL: number;
  readonly accessTokenMaxTTL: number;
  readonly accessTokenNumUsesLimit: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Networks in the form of the interface. */
export const toNetworks = (ranges: readonly string[]): { ipAddress: string }[] =>
  ranges.map((ipAddress) => ({ ipAddress }));

export const toTokenAuthView = (row: IdentityTokenAuth): TokenAuthView => ({
  identityId: row.identityId,
  accessTokenTrustedIps: toNetworks(row.trustedIps),
  accessTokenTTL: row.ttlSeconds,
  accessTokenMaxTTL: row.maxTtlSeconds,
  accessTokenNumUsesLimit: row.numUsesLimit,
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
});
