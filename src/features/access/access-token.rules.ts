import { z } from 'zod';
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
const id = idOf('The token.');
const identityId = idOf('The machine identity.');
const userId = idOf('The user.');

/** Input of `createAccessToken`. Source: specification, operation 1; decisions 3. */
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
  offset: z.int().min(0).max(100).nullish().meta({ description: 'Leaves out this many rows first, 0 to 100.' }),
};

/** Arguments of `accessTokens`. Source: behaviour 3.3. */
export const ListTokens = z.strictObject({ identityId, ...paging });

/** Arguments of `personalAccessTokens`. */
export const ListPersonalTokens = z.strictObject({ userId, ...paging });
