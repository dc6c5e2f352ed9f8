import { X509Certificate } from 'node:crypto';
import * as z from 'zod';
import { isCidr, toCidr } from '../../../kernel/addresses.js';
import { compileGlob, MAX_GLOB } from '../../../kernel/authz/glob.js';
import { AppError } from '../../../kernel/errors.js';
import { pageRules } from '../../../kernel/paging.js';
import { HAS_NO_CONTROL_CHARACTERS, idOf, integer, storedText } from '../../../kernel/value-rules.js';

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
const hasFittingTtl = ({ accessTokenTTL, accessTokenMaxTTL }: TokenTtls): boolean =>
  fitsMaxTtl(accessTokenTTL, accessTokenMaxTTL);

interface TokenTtls {
  readonly accessTokenTTL: number;
  readonly accessTokenMaxTTL: number;
}

/** Changes of them; absent keeps. */
type TtlChanges = { readonly [Name in keyof TokenTtls]?: number | undefined };

/** The violation of a TTL above the max TTL. */
const TTL_VIOLATION = {
  path: ['accessTokenTTL'],
  error: 'must not exceed accessTokenMaxTTL; 0 means no limit, so accessTokenMaxTTL must be 0 too',
};

/** The same, seen from the max TTL. */
const MAX_TTL_VIOLATION = {
  path: ['accessTokenMaxTTL'],
  error: 'must not be less than accessTokenTTL, where 0 means no limit; 0 means no maximum',
};

const identityId = idOf('machine identity');

/** What every authentication method says of the tokens that it makes. */
const tokenSettings = {
  accessTokenTrustedIps: trustedIps
    .meta({ description: 'Networks that access tokens can be used from, 1 to 256.' })
    .default(EVERYWHERE),
  accessTokenTTL: ttlSeconds
    .meta({
      description:
        'Lifetime of access tokens in seconds, 0 to 315360000. 0: no limit; `accessTokenMaxTTL` must be 0 too.',
    })
    .default(DEFAULT_TTL_SECONDS),
  accessTokenMaxTTL: ttlSeconds
    .meta({
      description: 'Maximum lifetime of access tokens in seconds, including renewals, 0 to 315360000. 0: no limit.',
    })
    .default(DEFAULT_TTL_SECONDS),
  accessTokenNumUsesLimit: usesLimit
    .meta({ description: 'Maximum number of uses of an access token. 0: no limit.' })
    .default(0),
};

/** Rules of a change, where absent keeps: nothing is required, and nothing has a default. */
type Changes<S extends z.core.$ZodLooseShape> = {
  [Name in keyof S]: S[Name] extends z.ZodDefault<infer Inner extends z.core.SomeType>
    ? z.ZodOptional<Inner>
    : S[Name] extends z.ZodOptional
      ? S[Name]
      : z.ZodOptional<S[Name]>;
};
export const changesOf = <S extends z.core.$ZodLooseShape>(shape: S): Changes<S> =>
  Object.fromEntries(
    Object.entries(shape).map(([name, rule]) => {
      const bare = rule instanceof z.ZodDefault ? rule.unwrap() : rule;
      return [name, bare instanceof z.ZodOptional ? bare : z.optional(bare)];
    }),
  ) as Changes<S>;

/**
 * Inputs of an authentication method.
 *
 * @param name as descriptions call it: `token authentication`
 * @param own what it has beside the settings of its tokens
 */
export function configurationRules<const S extends z.core.$ZodLooseShape>(name: string, own: S) {
  const settings = { ...own, ...tokenSettings };
  const isClearable = Object.values(own).some((rule) => z.safeParse(rule, null).success);
  return {
    name,
    attach: z
      .strictObject({ identityId, ...settings })
      .refine((tokens) => hasFittingTtl(tokens as TokenTtls), TTL_VIOLATION)
      .meta({ description: `Settings of the new ${name}.` }),
    update: z.strictObject({ identityId, ...changesOf(settings) }).meta({
      description: `Fields to change. Omitted fields keep their values${isClearable ? '; null clears them' : ''}.`,
    }),
    one: z.strictObject({ identityId }).meta({ description: 'The machine identity, by ID.' }),
  };
}

/** Inputs of token authentication, which has nothing else. */
export const TokenAuthRules = configurationRules('token authentication', {});

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

/** Inputs of universal authentication. */
export const UniversalAuthRules = configurationRules('universal authentication', {
  clientSecretTrustedIps: trustedIps
    .meta({ description: 'Networks that client secrets can be used from, 1 to 256.' })
    .default(EVERYWHERE),
});

// What several platforms ask for.

/** A text of one line. */
export const line = (max: number) =>
  z.string().trim().min(1).max(max).regex(HAS_NO_CONTROL_CHARACTERS, 'must not contain control characters');

/** What texts of tokens are compared with. */
export const pattern = z
  .string()
  .min(1)
  .max(MAX_GLOB)
  .superRefine((text, context) => {
    const compiled = compileGlob(text);
    if (typeof compiled === 'string') context.addIssue({ code: 'custom', message: compiled });
  });

/** Where a platform is asked: without credentials, query and fragment. */
export const url = (example: string) =>
  z
    .string()
    .trim()
    .max(2_000)
    .refine(isPlainUrl, { error: `must be a URL as ${example}` });

function isPlainUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && [username, password, search, hash].every((part) => part === '');
}

/** Certificates in PEM. */
export const certificates = z
  .string()
  .trim()
  .max(32_768)
  .refine(areCertificates, { error: 'must be certificates in PEM' });

function areCertificates(text: string): boolean {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? [];
  try {
    for (const block of blocks) new X509Certificate(block);
    return blocks.length > 0;
  } catch {
    return false;
  }
}

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
