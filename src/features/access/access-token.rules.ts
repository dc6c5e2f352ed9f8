import { z } from 'zod';
import { pageRules } from '../../kernel/graphql/page.js';
import { HAS_NO_CONTROL_CHARACTERS, isStorable, NOT_STORABLE } from '../../kernel/text-rules.js';
import { DEFAULT_TTL_SECONDS, fitsMaxTtl, TTL_FAULT, ttlSeconds, usesLimit } from '../identities/public.js';
import { organizationSlug } from '../organizations/public.js';

const tokenName = z
  .string()
  .max(64)
  .refine(isStorable, NOT_STORABLE)
  .regex(HAS_NO_CONTROL_CHARACTERS, 'must not hold control characters');

/** Body of operation 1. Source: specification, operation 1; decisions 3. */
export const CreateTokenBody = z.strictObject({
  name: tokenName.nullish(),
  organizationSlug: organizationSlug.nullish(),
});

/** Input of `createAccessToken`. */
export const CreateToken = CreateTokenBody.extend({ identityId: z.string() });

/** Input of `createPersonalAccessToken`. */
export const CreatePersonalToken = CreateTokenBody.extend({
  userId: z.string(),
  accessTokenTTL: ttlSeconds.default(DEFAULT_TTL_SECONDS),
  accessTokenMaxTTL: ttlSeconds.default(DEFAULT_TTL_SECONDS),
  accessTokenNumUsesLimit: usesLimit.default(0),
}).refine(({ accessTokenTTL, accessTokenMaxTTL }) => fitsMaxTtl(accessTokenTTL, accessTokenMaxTTL), TTL_FAULT);

/** Names one token by its id. */
export const OneToken = z.strictObject({ accessTokenId: z.string() });

/** Input of `renameAccessToken`; null takes the name away. */
export const RenameToken = z.strictObject({ accessTokenId: z.string(), name: tokenName.nullish() });

/** The token itself: what only its holder has. */
export const TokenValue = z.strictObject({ accessToken: z.string().max(1_000) });

const paging = { ...pageRules, offset: z.int().min(0).max(100).nullish() };

/** Arguments of `accessTokens`. Source: behaviour 3.3. */
export const ListTokens = z.strictObject({ identityId: z.string(), ...paging });

/** Arguments of `personalAccessTokens`. */
export const ListPersonalTokens = z.strictObject({ userId: z.string(), ...paging });
