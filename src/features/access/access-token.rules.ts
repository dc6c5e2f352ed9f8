import { z } from 'zod';
import { integer } from '../../kernel/int.js';
import { sinceRules } from '../../kernel/list-order.js';
import { pageRules } from '../../kernel/paging.js';
import { HAS_NO_CONTROL_CHARACTERS, idOf, isStorable, NOT_STORABLE } from '../../kernel/text-rules.js';
import { DEFAULT_TTL_SECONDS, hasFittingTtl, TTL_FAULT, ttlSeconds, usesLimit } from '../identities/public.js';
import { organizationSlug } from '../organizations/public.js';

const tokenName = z
  .string()
  .max(64)
  .refine(isStorable, NOT_STORABLE)
  .regex(HAS_NO_CONTROL_CHARACTERS, 'must not hold control characters');

const name = tokenName.nullish().meta({ description: 'What people call it, up to 64 characters.' });
const scope = organizationSlug.nullish().meta({ description: 'Slug of the sub-organization to scope it to.' });
const id = idOf('token');
const identityId = idOf('machine identity');
const userId = idOf('user');

/** Input of `createAccessToken`. Source: operation 1 of the specification. */
export const CreateToken = z
  .strictObject({ identityId, name, organizationSlug: scope })
  .meta({ description: 'A new token of a machine identity.' });

/** Input of `createPersonalAccessToken`. */
export const CreatePersonalToken = z
  .strictObject({
    userId,
    name,
    organizationSlug: scope,
    accessTokenTTL: ttlSeconds.default(DEFAULT_TTL_SECONDS).meta({
      description: 'Seconds that it lives, 0 for no limit, which needs `accessTokenMaxTTL` 0 too.',
    }),
    accessTokenMaxTTL: ttlSeconds
      .default(DEFAULT_TTL_SECONDS)
      .meta({ description: 'Seconds that it lives at most, 0 for no limit.' }),
    accessTokenNumUsesLimit: usesLimit.default(0).meta({ description: 'How often it may be used; 0 for no limit.' }),
  })
  .refine(hasFittingTtl, TTL_FAULT)
  .meta({ description: 'A new personal access token.' });

/** Input of `revokeAccessToken`, and arguments of `accessToken`. */
export const OneToken = z.strictObject({ id }).meta({ description: 'Which token.' });

/** Input of `renameAccessToken`. */
export const RenameToken = z
  .strictObject({
    id,
    name: tokenName.nullish().meta({ description: 'The new name, up to 64 characters; null takes the name away.' }),
  })
  .meta({ description: 'A new name of a token.' });

/** The token itself: what only its holder has. */
export const TokenValue = z
  .strictObject({ accessToken: z.string().max(1_000).meta({ description: 'The token itself, `srt_...`.' }) })
  .meta({ description: 'A token, named by itself.' });

const paging = {
  ...pageRules,
  ...sinceRules,
  offset: integer(0, 100).nullish().meta({ description: 'Leaves out this many rows first, 0 to 100.' }),
};

const filters = {
  identityId: identityId.nullish().meta({ description: 'Only of this machine identity.' }),
  expiresBefore: z
    .date()
    .nullish()
    .meta({ description: 'Only those that expire before this time unless they are renewed.' }),
  unusedSince: z.date().nullish().meta({
    description:
      'Only those that were last used before this time, or made before it and never used. The last use of an unlimited token may be shown up to a minute late.',
  }),
};

/** Arguments of `accessTokens`. */
export const ListTokens = z.strictObject({
  ...filters,
  includeEnded: z
    .boolean()
    .default(false)
    .meta({ description: 'Also those that pass no more: revoked, expired or used up.' }),
  ...paging,
});

/** How many tokens one call chooses. */
export const MAX_REVOKED = 1_000;

/** Input of `revokeAccessTokens`. */
export const RevokeTokens = z
  .strictObject({
    ids: z.array(id).min(1).max(MAX_REVOKED).nullish().meta({
      description: 'These tokens, 1 to 1,000. Otherwise all that fit what follows, as `accessTokens` lists them.',
    }),
    ...filters,
    dryRun: z.boolean().default(false).meta({ description: 'Only show what would be revoked.' }),
  })
  .refine(
    ({ ids, identityId: ofIdentity, expiresBefore, unusedSince }) =>
      (ids == null) !== [ofIdentity, expiresBefore, unusedSince].every((filter) => filter == null),
    { path: ['ids'], error: 'must be given, or else identityId, expiresBefore or unusedSince, not both' },
  )
  .meta({ description: 'Which tokens to revoke: by their ids, or by what they have in common.' });

/** Arguments of `Identity.accessTokenConnection`. */
export const ListOfIdentity = z.strictObject({ ...pageRules, ...sinceRules });

/** Arguments of `personalAccessTokens`. */
export const ListPersonalTokens = z.strictObject({ userId, ...paging });
