import { Utils } from '@mikro-orm/core';
import type { z } from 'zod';
import { toRanges, type UpdateTokenAuth } from './auth-configuration.rules.js';
import type { IdentityTokenAuth } from './token-auth.entity.js';
import type { IdentityUniversalAuth } from './universal-auth.entity.js';

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
const toNetworks = (ranges: readonly string[]): { ipAddress: string }[] => ranges.map((ipAddress) => ({ ipAddress }));

export const toTokenAuthView = (row: IdentityTokenAuth): TokenAuthView => ({
  identityId: row.identityId,
  accessTokenTrustedIps: toNetworks(row.trustedIps),
  accessTokenTTL: row.ttlSeconds,
  accessTokenMaxTTL: row.maxTtlSeconds,
  accessTokenNumUsesLimit: row.numUsesLimit,
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
});

/** The universal-auth configuration of an identity as services pass it on, in the names of the interface. */
export interface UniversalAuthView extends TokenAuthView {
  readonly clientId: string;
  readonly clientSecretTrustedIps: { readonly ipAddress: string }[];
}

export const toUniversalAuthView = (row: IdentityUniversalAuth): UniversalAuthView => ({
  ...toTokenAuthView(row),
  clientId: row.clientId,
  clientSecretTrustedIps: toNetworks(row.clientSecretTrustedIps),
});
