import * as z from 'zod';
import { isCidr, toCidr } from '../../../kernel/addresses.js';
import { AppError } from '../../../kernel/errors.js';
import { pageRules } from '../../../kernel/paging.js';
import { idOf, integer, storedText } from '../../../kernel/value-rules.js';

/** Ten years. */
const MAX_SECONDS = 315_360_000;
/** Thirty days. */
export const DEFAULT_TTL_SECONDS = 2_592_000;
const MAX_USES = 2_147_483_647;
/** Trusted addresses of a configuration that names none. */
export const EVERYWHERE = [{ ipAddress: '0.0.0.0/0' }, { ipAddress: '::/0' }];

/** Seconds that a token lives; 0 means no limit. */
export const ttlSeconds = integer(0, MAX_SECONDS);

/** How often a token passes; 0 means no limit. */
export const usesLimit = integer(0, MAX_USES);

// Zones and IPv4 in IPv6 form never match: callers' addresses are compared without the one and never in the other.
const range = z
  .string()
  .max(64)
  .refine((text) => !/%|^::ffff:/i.test(text) && isCidr(text), {
    error: 'must be an IP address or a network such as 10.0.0.0/8',
  });
/** A network. */
export const TrustedIp = z
  .strictObject({
    ipAddress: range.meta({ description: 'An IP address or a network, for example `10.0.0.1` or `10.0.0.0/8`.' }),
  })
  .meta({ description: 'A trusted network.' });

/** Networks from which something may be used. */
const trustedIps = z.array(TrustedIp).min(1).max(256);

/** True when a token may live as long as it is issued for. 0 means no limit, which fits under no maximum. */
export const fitsMaxTtl = (ttl: number, maxTtl: number): boolean => maxTtl === 0 || (ttl > 0 && ttl <= maxTtl);

/** The same for settings of tokens. */
export const hasFittingTtl = ({ accessTokenTTL, accessTokenMaxTTL }: TokenTtls): boolean =>
  fitsMaxTtl(accessTokenTTL, accessTokenMaxTTL);

export interface TokenTtls {
  readonly accessTokenTTL: number;
  readonly accessTokenMaxTTL: number;
}

/** Changes of them; absent keeps. */
export type TtlChanges = { readonly [Name in keyof TokenTtls]?: number | undefined };

/** The violation of a TTL above the max TTL. */
export const TTL_VIOLATION = {
  path: ['accessTokenTTL'],
  error: 'must not exceed accessTokenMaxTTL; 0 means no limit, so accessTokenMaxTTL must be 0 too',
};

/** The same, seen from the max TTL. */
const MAX_TTL_VIOLATION = {
  path: ['accessTokenMaxTTL'],
  error: 'must not be less than accessTokenTTL, where 0 means no limit; 0 means no maximum',
};

const tokenNetworks = trustedIps.meta({
  description: 'Networks that access tokens can be used from, 1 to 256.',
});
const ttl = ttlSeconds.meta({
  description: 'Lifetime of access tokens in seconds, 0 to 315360000. 0: no limit; `accessTokenMaxTTL` must be 0 too.',
});
const maxTtl = ttlSeconds.meta({
  description: 'Maximum lifetime of access tokens in seconds, including renewals, 0 to 315360000. 0: no limit.',
});
const uses = usesLimit.meta({ description: 'Maximum number of uses of an access token. 0: no limit.' });
const identityId = idOf('machine identity');

/** What every way in says of the tokens that it makes. */
const tokenSettings = {
  accessTokenTrustedIps: tokenNetworks.default(EVERYWHERE),
  accessTokenTTL: ttl.default(DEFAULT_TTL_SECONDS),
  accessTokenMaxTTL: maxTtl.default(DEFAULT_TTL_SECONDS),
  accessTokenNumUsesLimit: uses.default(0),
};

/** What may change of it: absent keeps. */
const tokenSettingsChanges = {
  accessTokenTrustedIps: tokenNetworks.optional(),
  accessTokenTTL: ttl.optional(),
  accessTokenMaxTTL: maxTtl.optional(),
  accessTokenNumUsesLimit: uses.optional(),
};

/** Input of `attachTokenAuth`. */
export const AttachTokenAuth = z
  .strictObject({ identityId, ...tokenSettings })
  .refine(hasFittingTtl, TTL_VIOLATION)
  .meta({ description: 'Settings of the new token authentication.' });

/** Input of `updateTokenAuth`. */
export const UpdateTokenAuth = z
  .strictObject({ identityId, ...tokenSettingsChanges })
  .meta({ description: 'Fields to change. Omitted fields keep their values.' });

/** Input of `removeTokenAuth`, and arguments of `identityTokenAuth`. */
export const OneTokenAuth = z.strictObject({ identityId }).meta({ description: 'The machine identity, by ID.' });

/**
 * Checks the stored result of a change, which the caller rolls back: two callers may have changed one side each. A change of
 * neither side passes, because networks must be changeable whatever was stored before.
 *
 * @throws VALIDATION_FAILED at the side that the change named
 */
export function requireFittingTtl(change: TtlChanges, stored: TokenTtls): void {
  if (change.accessTokenTTL === undefined && change.accessTokenMaxTTL === undefined) return;
  if (hasFittingTtl(stored)) return;
  const { path, error } = change.accessTokenTTL === undefined ? MAX_TTL_VIOLATION : TTL_VIOLATION;
  throw new AppError('VALIDATION_FAILED', undefined, {
    details: [{ path: path.join('.'), code: 'TTL_ABOVE_MAXIMUM', message: error }],
  });
}

/** The ranges in the one form that is stored. */
export const toRanges = (ips: readonly { ipAddress: string }[]): string[] => [
  ...new Set(ips.flatMap(({ ipAddress }) => toCidr(ipAddress) ?? [])),
];

const clientSecretNetworks = trustedIps.meta({
  description: 'Networks that client secrets can be used from, 1 to 256.',
});

/** Input of `attachUniversalAuth`. */
export const AttachUniversalAuth = z
  .strictObject({ identityId, clientSecretTrustedIps: clientSecretNetworks.default(EVERYWHERE), ...tokenSettings })
  .refine(hasFittingTtl, TTL_VIOLATION)
  .meta({ description: 'Settings of the new universal authentication.' });

/** Input of `updateUniversalAuth`. */
export const UpdateUniversalAuth = z
  .strictObject({ identityId, clientSecretTrustedIps: clientSecretNetworks.optional(), ...tokenSettingsChanges })
  .meta({ description: 'Fields to change. Omitted fields keep their values.' });

/** Input of `removeUniversalAuth`, and arguments of `identityUniversalAuth`. */
export const OneUniversalAuth = z.strictObject({ identityId }).meta({ description: 'The machine identity, by ID.' });

/** Input of `createClientSecret`: without limits it works until it is revoked. */
export const CreateClientSecret = z
  .strictObject({
    identityId: idOf('ID of the machine identity. It must have universal authentication attached.'),
    description: storedText(255)
      .default('')
      .meta({ description: 'Description of the client secret, up to 255 characters.' }),
    ttl: ttlSeconds.default(0).meta({ description: 'Lifetime in seconds, 0 to 315360000. 0: no limit.' }),
    numUsesLimit: usesLimit.default(0).meta({ description: 'Maximum number of logins. 0: no limit.' }),
  })
  .meta({ description: 'Fields of the new client secret.' });

/** Input of `revokeClientSecret`, and arguments of `clientSecret`. */
export const OneClientSecret = z
  .strictObject({
    id: idOf('client secret'),
    identityId: idOf(
      'ID of the machine identity that the client secret must belong to. Default: any identity.',
    ).nullish(),
  })
  .meta({ description: 'The client secret to revoke, by ID.' });

/** Arguments of `clientSecrets`. */
export const ListClientSecrets = z.strictObject({ identityId, ...pageRules });
