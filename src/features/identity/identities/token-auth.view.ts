import { Utils } from '@mikro-orm/core';
import type { z } from 'zod';
import type { IdentityTokenAuth } from './token-auth.entity.js';
import { toRanges, type UpdateTokenAuth } from './token-auth.rules.js';

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
