import { toRanges } from './auth-configuration.rules.js';
import type { IdentityTokenAuth } from './token-auth.entity.js';
import type { IdentityUniversalAuth } from './universal-auth.entity.js';

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

/** Networks of an input as they are stored, for a comparison with those of a configuration. */
export const toStoredNetworks = (ips: readonly { ipAddress: string }[]): { ipAddress: string }[] =>
  toNetworks(toRanges(ips));

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
