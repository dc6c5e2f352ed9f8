import * as z from 'zod';
import { changedSinceRules } from '../../../kernel/list-order.js';
import { FOR_REST_ALONE, pageRules } from '../../../kernel/paging.js';
import { HAS_NO_CONTROL_CHARACTERS, idOf, integer } from '../../../kernel/value-rules.js';
import { DEFAULT_TTL_SECONDS, fitsMaxTtl, ttlSeconds, usesLimit } from '../identities/public.js';
import { organizationSlug } from '../organizations/public.js';

const tokenName = z.string().max(64).regex(HAS_NO_CONTROL_CHARACTERS, 'must not contain control characters');

const name = tokenName.nullish().meta({ description: 'Name of the token, for example `deploy pipeline`.' });
const scope = organizationSlug.nullish().meta({ description: 'Slug of the sub-organization to scope the token to.' });
const id = idOf('token');
const identityId = idOf('machine identity');
const userId = idOf('user');

/** Input of `createAccessToken`. Source: operation 1 of the specification. */
export const CreateToken = z
  .strictObject({ identityId, name, organizationSlug: scope })
  .meta({ description: 'The machine identity, and the fields of the new token.' });

/** Input of `createPersonalAccessToken`. */
export const CreatePersonalToken = z
  .strictObject({
    userId,
    name,
    organizationSlug: scope,
    ttlSeconds: ttlSeconds.default(DEFAULT_TTL_SECONDS).meta({
      description: 'Lifetime in seconds; 0 for no limit, which requires `maxTtlSeconds` 0 too.',
    }),
    maxTtlSeconds: ttlSeconds
      .default(DEFAULT_TTL_SECONDS)
      .meta({ description: 'Maximum lifetime in seconds, including renewals; 0 for no limit.' }),
    useLimit: usesLimit.default(0).meta({ description: 'Maximum number of uses; 0 for no limit.' }),
  })
  .refine(({ ttlSeconds: ttl, maxTtlSeconds: maxTtl }) => fitsMaxTtl(ttl, maxTtl), {
    path: ['ttlSeconds'],
    error: 'must not exceed maxTtlSeconds; 0 means no limit, so maxTtlSeconds must be 0 too',
  })
  .meta({ description: 'The user, and the fields of the new token.' });

/** Input of `logInWithOidc` and `logInWithKubernetes`. */
export const LogInWithToken = z
  .strictObject({
    identityId: idOf('machine identity').max(1_000),
    jwt: z.string().trim().max(15_000).meta({
      description:
        'The token that the platform of the machine issued: a signed JSON Web Token, up to 15,000 characters.',
    }),
    organizationSlug: organizationSlug
      .nullish()
      .meta({ description: 'Slug of the sub-organization to scope the token to.' }),
  })
  .meta({ description: 'The machine identity, and the token of its platform.' });

/** Input of `revokeAccessToken`, and arguments of `accessToken`. */
export const OneToken = z.strictObject({ id }).meta({ description: 'The token, by ID.' });

/** Input of `renameAccessToken`. */
export const RenameToken = z
  .strictObject({
    id,
    name: tokenName.nullish().meta({ description: 'New name of the token; null clears it.' }),
  })
  .meta({ description: 'The token, by ID, and its new name.' });

/** The token itself, which only its holder has. */
export const TokenValue = z
  .strictObject({ accessToken: z.string().max(1_000).meta({ description: 'The token itself, `srt_...`.' }) })
  .meta({ description: 'The token itself.' });

const paging = { ...pageRules, ...changedSinceRules };

/** For REST, whose lists can skip rows. */
const skipping = {
  offset: integer(0, 100)
    .nullish()
    .meta({ description: 'Number of tokens to skip, 0 to 100.' })
    .register(FOR_REST_ALONE, {}),
};

const filters = {
  identityId: identityId.nullish().meta({ description: 'Only tokens of the machine identity with this ID.' }),
  expiresBefore: z
    .date()
    .nullish()
    .meta({ description: 'Only tokens that expire before this time unless they are renewed.' }),
  unusedSince: z
    .date()
    .nullish()
    .meta({
      description:
        'Only tokens last used before this time, or created before it and never used. The last use of a token without a ' +
        'use limit can be up to a minute late.',
    }),
};

/** Arguments of `accessTokens`. */
export const ListTokens = z.strictObject({
  ...filters,
  includeEnded: z
    .boolean()
    .default(false)
    .meta({ description: 'Whether to include tokens that are no longer valid: revoked, expired or used up.' }),
  ...paging,
  ...skipping,
});

/** Maximum number of tokens that one call selects. */
export const MAX_REVOKED = 1_000;

/** Input of `revokeAccessTokens`. */
export const RevokeTokens = z
  .strictObject({
    ids: z.array(id).min(1).max(MAX_REVOKED).nullish().meta({
      description:
        'IDs of the tokens, 1 to 1,000. Otherwise the tokens that match the other fields, as `accessTokens` lists them.',
    }),
    ...filters,
    dryRun: z
      .boolean()
      .default(false)
      .meta({ description: 'Whether to preview the revocation without changing anything.' }),
  })
  .refine(
    ({ ids, identityId: ofIdentity, expiresBefore, unusedSince }) =>
      (ids == null) !== [ofIdentity, expiresBefore, unusedSince].every((filter) => filter == null),
    { path: ['ids'], error: 'required unless identityId, expiresBefore or unusedSince is set; not allowed with them' },
  )
  .meta({ description: 'The tokens to revoke: by ID, or by common attributes.' });

/** Arguments of `Identity.accessTokens`. */
export const ListOfIdentity = z.strictObject({ ...pageRules, ...changedSinceRules });

/** Arguments of `personalAccessTokens`. */
export const ListPersonalTokens = z.strictObject({ userId, ...paging });

/** Input of `logInWithUniversalAuth`. A malformed client ID or client secret is a wrong one, not a validation error. */
export const LogIn = z
  .strictObject({
    clientId: idOf('Client ID of the identity.').max(1_000),
    clientSecret: z.string().max(1_000).meta({ description: 'Client secret of the identity, `srs_...`.' }),
    organizationSlug: organizationSlug
      .nullish()
      .meta({ description: 'Slug of the sub-organization to scope the token to.' }),
  })
  .meta({ description: 'The credentials of the machine identity.' });
