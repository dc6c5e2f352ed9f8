import { z } from 'zod';
import { AppError } from '../../kernel/errors.js';
import { isCidr, toCidr } from '../../kernel/http/addresses.js';

/** Ten years. Source: decisions 3. */
const MAX_SECONDS = 315_360_000;
/** Thirty days. Source: decisions 3. */
export const DEFAULT_TTL_SECONDS = 2_592_000;
const MAX_USES = 2_147_483_647;
/** Trusted addresses of a configuration that names none. */
export const EVERYWHERE = [{ ipAddress: '0.0.0.0/0' }, { ipAddress: '::/0' }];

/** Seconds that a token lives; 0 means no limit. */
export const ttlSeconds = z.int().min(0).max(MAX_SECONDS);

/** How often a token passes; 0 means no limit. */
export const usesLimit = z.int().min(0).max(MAX_USES);

// Zones and IPv4 in IPv6 form never match: callers' addresses are compared without the one and never in the other.
const range = z
  .string()
  .max(64)
  .refine((text) => !/%|^::ffff:/i.test(text) && isCidr(text), {
    error: 'must be an address or a network such as 10.0.0.0/8',
  });
/** Networks from which something may be used. */
export const trustedIps = z
  .array(z.strictObject({ ipAddress: range }))
  .min(1)
  .max(256);

/** True when a token may live as long as it is issued for. 0 means no limit, which fits under no maximum. Source: decisions 3. */
export const fitsMaxTtl = (ttl: number, maxTtl: number): boolean => maxTtl === 0 || (ttl > 0 && ttl <= maxTtl);

/** The violation of a TTL above the max TTL. */
export const TTL_FAULT = {
  path: ['accessTokenTTL'],
  error: 'must not be more than accessTokenMaxTTL; 0 is no limit, and needs 0 there too',
};

/** The same, seen from the max TTL. */
const MAX_TTL_FAULT = {
  path: ['accessTokenMaxTTL'],
  error: 'must not be less than accessTokenTTL, of which 0 is no limit; 0 is no maximum',
};

/** What every way in says of the tokens that it makes. */
export const tokenSettings = {
  accessTokenTrustedIps: trustedIps.default(EVERYWHERE),
  accessTokenTTL: ttlSeconds.default(DEFAULT_TTL_SECONDS),
  accessTokenMaxTTL: ttlSeconds.default(DEFAULT_TTL_SECONDS),
  accessTokenNumUsesLimit: usesLimit.default(0),
};

/** What may change of it: absent keeps. */
export const tokenSettingsChanges = {
  accessTokenTrustedIps: trustedIps.optional(),
  accessTokenTTL: ttlSeconds.optional(),
  accessTokenMaxTTL: ttlSeconds.optional(),
  accessTokenNumUsesLimit: usesLimit.optional(),
};

/** Body of the REST route that attaches token authentication; the rule across fields is checked with the input. */
export const TokenAuthBody = z.strictObject(tokenSettings);

/** Input of `attachTokenAuth`. Source: behaviour 3.3. */
export const AttachTokenAuth = z
  .strictObject({ identityId: z.string(), ...tokenSettings })
  .refine(({ accessTokenTTL, accessTokenMaxTTL }) => fitsMaxTtl(accessTokenTTL, accessTokenMaxTTL), TTL_FAULT);

/** Input of `updateTokenAuth`: absent keeps. */
export const UpdateTokenAuth = z.strictObject({ identityId: z.string(), ...tokenSettingsChanges });

/** Names the identity whose configuration is meant. */
export const OneTokenAuth = z.strictObject({ identityId: z.string() });

interface Ttls {
  readonly accessTokenTTL?: number | undefined;
  readonly accessTokenMaxTTL?: number | undefined;
}

/**
 * Checks the stored result of a change, which the caller rolls back: two callers may have changed one side each. A change of
 * neither side passes, because networks must be changeable whatever was stored before.
 *
 * @throws VALIDATION_FAILED at the side that the change named
 */
export function requireFittingTtl(change: Ttls, stored: Required<Ttls>): void {
  if (change.accessTokenTTL === undefined && change.accessTokenMaxTTL === undefined) return;
  if (fitsMaxTtl(stored.accessTokenTTL ?? 0, stored.accessTokenMaxTTL ?? 0)) return;
  const { path, error } = change.accessTokenTTL === undefined ? MAX_TTL_FAULT : TTL_FAULT;
  throw new AppError('VALIDATION_FAILED', undefined, {
    details: [{ path: path.join('.'), code: 'TTL_ABOVE_MAXIMUM', message: error }],
  });
}

/** The ranges in the one form that is stored. */
export const toRanges = (ips: readonly { ipAddress: string }[]): string[] => [
  ...new Set(ips.flatMap(({ ipAddress }) => toCidr(ipAddress) ?? [])),
];
