import { sql, Utils } from '@mikro-orm/core';
import type { z } from 'zod';
import type { Transaction } from '../../kernel/context.js';
import { columnsOf, prepared, tablesOf } from '../../kernel/database/tables.js';
import type { IdentitySchema } from './identity.entity.js';
import { IdentityTokenAuth, IdentityTokenAuthSchema } from './token-auth.entity.js';
import { toRanges, type UpdateTokenAuth } from './token-auth.rules.js';
import { IdentityUniversalAuthSchema } from './universal-auth.entity.js';

const tables = tablesOf<typeof IdentityTokenAuthSchema | typeof IdentityUniversalAuthSchema | typeof IdentitySchema>();

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
    .select(columnsOf(IdentityTokenAuthSchema))
    .where('identity_id', '=', (query) => query.selectFrom('held').select('id'))
    .forShare(),
);

/** Removes a configuration. No row: there was none. */
export const deleteTokenAuth = prepared(({ identityId }: { identityId: string }) =>
  tables
    .deleteFrom('identity_token_auth')
    .where('identity_id', '=', identityId)
    .returning(columnsOf(IdentityTokenAuthSchema)),
);

/** The same of universal authentication, with its client secrets. */
export const deleteUniversalAuth = prepared(({ identityId }: { identityId: string }) =>
  tables
    .deleteFrom('identity_universal_auth')
    .where('identity_id', '=', identityId)
    .returning(columnsOf(IdentityUniversalAuthSchema)),
);

/** No row: there was none. */
export async function updateTokenAuth(
  tx: Transaction,
  { identityId, ...changes }: z.output<typeof UpdateTokenAuth>,
): Promise<IdentityTokenAuth | undefined> {
  const [row] = await tx.em
    .createQueryBuilder(IdentityTokenAuth)
    .update({ ...tokenSettingsOf(changes), updatedAt: sql`now()` })
    .where({ identityId })
    .returning('*')
    .execute<IdentityTokenAuth[]>('all');
  return row;
}

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
