import { Int } from 'type-graphql';
import * as z from 'zod';
import { inputType } from '../../../kernel/graphql/inputs.js';
import { objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { configurationResolver } from './auth-configuration.resolver.js';
import { commaSeparated, configurationRoutes, listInText, orEmpty, renamed } from './auth-configuration.routes.js';
import { BoundClaim, OidcAuthRules, SessionClaim } from './oidc-auth.rules.js';
import { OIDC_AUTH } from './oidc-auth.service.js';
import { TokenAuthType } from './token-auth.resolver.js';

const BoundClaimType = objectType('BoundClaim', 'What a claim of a token must be.', {
  claim: [String, 'Name of the claim.'],
  values: [[String], 'Patterns, of which one must match the claim, or an item of a claim that is a list.'],
});

const SessionClaimType = objectType('SessionClaim', 'A claim that access tokens of logins keep.', {
  key: [String, 'Key under which it is kept.'],
  claim: [String, 'Name of the claim.'],
});

inputType('BoundClaimInput', BoundClaim);
inputType('SessionClaimInput', SessionClaim);

export const OidcAuthType = objectType(
  'OidcAuth',
  'Settings of OIDC authentication of a machine identity, which logs in with a token that its own platform issued, so that it needs no stored secret. A change ends the sessions that were begun with it.',
  {
    discoveryUrl: [orNull(String), 'URL of the issuer where its keys are found. Null: `keys` has them.'],
    keys: [
      orNull(String),
      'The public keys of the issuer: a JSON Web Key Set, as text. Null: they are found at `discoveryUrl`.',
    ],
    caCertificate: [orNull(String), 'Certificates in PEM that the issuer is trusted by. Null: the public authorities.'],
    issuer: [String, 'The `iss` of tokens.'],
    audiences: [
      [String],
      'Audiences, of which a token must have one. Empty: any. Where an issuer serves others, too, as GitHub and GitLab do, anybody can ask for any audience: bind `subject` or `claims` as well.',
    ],
    subject: [orNull(String), 'Pattern of the `sub` of tokens. Null: any.'],
    claims: [[BoundClaimType], 'What further claims of tokens must be.'],
    sessionClaims: [[SessionClaimType], 'Claims that access tokens of logins keep, and the audit trail shows.'],
    isSingleUse: [Boolean, 'Whether the same token logs in only once.'],
    keysUsableSeconds: [Int, 'How long known keys are used while the issuer cannot be reached, in seconds.'],
  },
  { extends: TokenAuthType },
);
export type OidcAuthType = InstanceType<typeof OidcAuthType>;

/** `identityOidcAuth`, `attachOidcAuth`, `updateOidcAuth` and `removeOidcAuth`. */
export const OidcAuthResolver = configurationResolver(
  OIDC_AUTH,
  OidcAuthType,
  {
    attached: ': tokens of GitHub Actions, GitLab, Kubernetes or any other issuer of OpenID Connect log it in.',
    removed: 'The tokens issued with it are revoked immediately.',
  },
  {},
);

const MAX_TEXTS = 100;
/** Names are a caller's own words, which a violation must not repeat: it names the whole. */
const texts = z
  .record(z.string(), z.any())
  .refine(
    (given) =>
      Object.keys(given).length <= MAX_TEXTS &&
      Object.entries(given).every(
        ([name, text]) => name.length <= 128 && typeof text === 'string' && text.length <= 10_000,
      ),
    { error: 'must be texts of up to 10,000 characters by names of up to 128' },
  );
/** Texts by name, as clients write a list. */
const byName = <Item>(
  field: string,
  description: string,
  toItem: (name: string, text: string) => Item,
  toEntry: (item: Item) => readonly [string, string],
) => ({
  field,
  rule: texts.optional().meta({ description }),
  read: (given: Readonly<Record<string, string>>) => Object.entries(given).map(([name, text]) => toItem(name, text)),
  reply: {
    schema: { type: 'object', additionalProperties: { type: 'string' }, description },
    write: (items: readonly Item[]) => Object.fromEntries(items.map(toEntry)),
  },
});

/** OIDC configurations. */
export const oidcAuthRoutes = configurationRoutes(OIDC_AUTH, {
  called: 'OIDC',
  removal: 'Remove OIDC authentication and its tokens',
  select: 'identityId oidcDiscoveryUrl: discoveryUrl boundIssuer: issuer *',
  words: {
    oidcDiscoveryUrl: orEmpty('discoveryUrl', 'URL of the issuer, where its keys are found.'),
    caCert: orEmpty(
      'caCertificate',
      'Certificates in PEM that the issuer is trusted by.',
      'Certificates in PEM that the issuer is trusted by; empty for the public authorities.',
    ),
    boundIssuer: renamed('issuer', 'The `iss` of tokens.'),
    boundAudiences: commaSeparated(
      'audiences',
      'Audiences, separated by commas. Empty: any.',
      'Audiences, separated by commas; empty for any, for example `https://github.com/example`.',
    ),
    boundClaims: byName(
      'claims',
      'Patterns by the names of claims, each separated by commas.',
      (claim, values) => ({ claim, values: listInText(values) }),
      ({ claim, values }) => [claim, values.join(',')],
    ),
    claimMetadataMapping: byName(
      'sessionClaims',
      'Names of claims by the keys that tokens keep them under.',
      (key, claim) => ({ key, claim }),
      ({ key, claim }) => [key, claim],
    ),
    boundSubject: orEmpty(
      'subject',
      'Pattern of the `sub` of tokens. Empty: any.',
      'Pattern of the `sub` of tokens; empty for any, for example `repo:example/shop:ref:refs/heads/**`.',
    ),
    keys: orEmpty('keys', 'The public keys of the issuer: a JSON Web Key Set, as text.'),
    isSingleUse: { field: 'isSingleUse', rule: OidcAuthRules.update.shape.isSingleUse },
    keysUsableSeconds: { field: 'keysUsableSeconds', rule: OidcAuthRules.update.shape.keysUsableSeconds },
  },
  examples: {
    attach: {
      oidcDiscoveryUrl: 'https://token.actions.githubusercontent.com',
      boundIssuer: 'https://token.actions.githubusercontent.com',
      boundAudiences: 'https://github.com/example',
      boundSubject: 'repo:example/shop:ref:refs/heads/main',
      boundClaims: { repository: 'example/shop' },
      accessTokenTTL: 3_600,
    },
    update: { boundSubject: 'repo:example/shop:ref:refs/heads/**' },
  },
});
