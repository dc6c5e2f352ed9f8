import * as z from 'zod';
import type { ErrorDetail } from '../../../kernel/errors.js';
import { validationFailed } from '../../../kernel/validation.js';
import { integer } from '../../../kernel/value-rules.js';
import { certificates, configurationRules, line, pattern, url } from './auth-configuration.rules.js';

/** A week. */
const MAX_KEYS_USABLE_SECONDS = 604_800;
/** A day. */
const KEYS_USABLE_SECONDS = 86_400;
const MAX_KEYS_LENGTH = 65_536;
const MAX_KEYS = 100;

const claimName = line(128);

/** What a claim must be. */
export const BoundClaim = z
  .strictObject({
    claim: claimName.meta({ description: 'Name of the claim, for example `repository`.' }),
    values: z.array(pattern).min(1).max(32).meta({
      description:
        'Patterns, of which one must match the claim, or an item of a claim that is a list. `*` stands for any characters but `/`, `**` for whole names.',
    }),
  })
  .meta({ description: 'What a claim of the token must be.' });
export type BoundClaim = z.output<typeof BoundClaim>;

/** A claim that tokens keep. */
export const SessionClaim = z
  .strictObject({
    key: line(64).meta({ description: 'Key under which it is kept, for example `repository`.' }),
    claim: claimName.meta({ description: 'Name of the claim.' }),
  })
  .meta({ description: 'A claim that access tokens of logins keep, and the audit trail shows.' });
export type SessionClaim = z.output<typeof SessionClaim>;

/** The public keys in a text; null for any other text. */
export function publicKeysIn(text: string): { keys: Record<string, unknown>[] } | null {
  try {
    const { keys } = JSON.parse(text) as { keys?: unknown };
    const isKey = (key: unknown): key is Record<string, unknown> =>
      typeof key === 'object' && key !== null && ['RSA', 'EC', 'OKP'].includes((key as { kty?: string }).kty ?? '');
    return Array.isArray(keys) && keys.length <= MAX_KEYS ? { keys: keys.filter(isKey) } : null;
  } catch {
    return null;
  }
}

/** A set that has nothing but public keys. */
function isKeySet(text: string): boolean {
  const found = publicKeysIn(text)?.keys ?? [];
  return (
    found.length > 0 &&
    found.length === (JSON.parse(text) as { keys: unknown[] }).keys.length &&
    found.every((key) => !('d' in key))
  );
}

/** Inputs of OIDC authentication. */
export const OidcAuthRules = configurationRules('OIDC authentication', {
  discoveryUrl: url('https://token.example.com')
    .meta({
      description:
        'URL of the issuer, before `/.well-known/openid-configuration`, where its keys are found. Either this or `keys`.',
    })
    .nullish(),
  keys: z
    .string()
    .max(MAX_KEYS_LENGTH)
    .refine(isKeySet, { error: 'must be a JSON Web Key Set of public keys, as text', params: { code: 'INVALID_KEYS' } })
    .meta({ description: 'The public keys of the issuer: a JSON Web Key Set, as text, up to 65,536 characters.' })
    .nullish(),
  caCertificate: certificates
    .meta({ description: 'Certificates in PEM that the issuer is trusted by, in place of the public authorities.' })
    .nullish(),
  issuer: line(1_000).meta({
    description: 'The `iss` of tokens, for example `https://token.actions.githubusercontent.com`.',
  }),
  audiences: z
    .array(line(1_000))
    .max(20)
    .meta({
      description:
        'Audiences, of which a token must have one. Empty: any. Where an issuer serves others, too, as GitHub and GitLab do, anybody can ask for any audience: bind `subject` or `claims` as well.',
    })
    .default([]),
  subject: pattern
    .meta({
      description: 'Pattern of the `sub` of tokens, for example `repo:example/shop:ref:refs/heads/main`. Null: any.',
    })
    .nullish(),
  claims: z.array(BoundClaim).max(20).meta({ description: 'What further claims of tokens must be.' }).default([]),
  sessionClaims: z
    .array(SessionClaim)
    .max(20)
    .refine((kept) => new Set(kept.map(({ key }) => key)).size === kept.length, { error: 'must not name a key twice' })
    .meta({ description: 'Claims that access tokens of logins keep, and the audit trail shows.' })
    .default([]),
  isSingleUse: z.boolean().meta({ description: 'Whether the same token logs in only once.' }).default(false),
  keysUsableSeconds: integer(0, MAX_KEYS_USABLE_SECONDS)
    .meta({ description: 'How long known keys are used while the issuer cannot be reached, in seconds, 0 to 604800.' })
    .default(KEYS_USABLE_SECONDS),
});

/** What the stored conditions must be together. */
interface Bound {
  readonly discoveryUrl?: string | null | undefined;
  readonly keys?: string | null | undefined;
  readonly audiences: readonly string[];
  readonly subject?: string | null | undefined;
  readonly claims: readonly BoundClaim[];
}

/**
 * Without a bound audience, subject or claim every token of the issuer would log in, that of a stranger's pipeline, too.
 *
 * @throws VALIDATION_FAILED for no or two sources of keys, and for conditions that bind nothing
 */
export function requireBound({ discoveryUrl, keys, audiences, subject, claims }: Bound): void {
  const violations: ErrorDetail[] = [];
  if ((discoveryUrl == null) === (keys == null))
    violations.push({
      path: 'discoveryUrl',
      code: 'KEYS_REQUIRED',
      message: 'exactly one of discoveryUrl and keys must be set',
    });
  if (audiences.length === 0 && subject == null && claims.length === 0)
    violations.push({
      path: 'audiences',
      code: 'BINDING_REQUIRED',
      message:
        'at least one audience, the subject or a claim must be set: otherwise any token of the issuer would log in',
    });
  if (violations.length > 0) throw validationFailed(violations);
}
