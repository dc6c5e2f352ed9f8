import { ID, Int } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { inputType } from '../../../kernel/graphql/inputs.js';
import { Node } from '../../../kernel/graphql/node.js';
import { objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { countedConnectionOf } from '../../../kernel/graphql/page.js';
import { AuthMethodEnum } from '../identities/public.js';
import { TokenValue } from './access-token.rules.js';
import type { IssuedToken } from './token-issuing.js';

export const AccessTokenType = objectType(
  'AccessToken',
  'An access token of a machine identity or a user. The token itself is not stored and not returned.',
  {
    id: [ID, 'ID of the token. It is not the token itself.'],
    identityId: [orNull(ID), 'ID of the machine identity; null for a personal token.'],
    userId: [orNull(ID), 'ID of the user; null for the token of a machine identity.'],
    createdAt: [DateTime, 'When the token was created.'],
    updatedAt: [DateTime, 'When the token was last renamed, renewed or revoked.'],
    authMethod: [AuthMethodEnum, 'How the token was created.'],
    accessTokenTTL: [Int, 'Lifetime in seconds from the creation or the last renewal; 0 for no limit.'],
    accessTokenMaxTTL: [Int, 'Maximum lifetime in seconds from the creation, including renewals; 0 for no limit.'],
    accessTokenNumUses: [
      Int,
      'Number of uses, including the uses handed to tokens that it created for the same holder. Exact for a token ' +
        'with a use limit; otherwise up to a minute late. At most 2,147,483,647.',
    ],
    accessTokenNumUsesLimit: [Int, 'Maximum number of uses; 0 for no limit.'],
    accessTokenLastUsedAt: [
      orNull(DateTime),
      'When the token was last used. Exact for a token with a use limit; otherwise up to a minute late.',
    ],
    accessTokenLastRenewedAt: [orNull(DateTime), 'When the token was last renewed.'],
    isAccessTokenRevoked: [Boolean, 'Whether the token was revoked.'],
    identityUAClientSecretId: [
      orNull(ID),
      'ID of the client secret that the identity logged in with; null for a token created in another way.',
    ],
    name: [orNull(String), 'Name of the token, for example `deploy pipeline`.'],
    accessTokenPeriod: [Int, 'Renewal period in seconds. Always 0: a renewal extends the lifetime by the TTL.'],
    subOrganizationId: [
      orNull(ID),
      'ID of the sub-organization that the token is scoped to; null for a token of the root organization.',
    ],
    expiresAt: [orNull(DateTime), 'When the token expires unless it is renewed; null if it never expires.'],
    makerTokenId: [
      orNull(ID),
      'ID of the token of the same holder that created it; null for a token created in another way. The creating ' +
        'token limits its lifetime and uses, and its revocation also revokes this one.',
    ],
  },
  { implements: Node },
);
export type AccessTokenType = InstanceType<typeof AccessTokenType>;

export const AccessTokenConnection = countedConnectionOf(
  AccessTokenType,
  'AccessToken',
  'latest change first, then ID',
);

export const HeldAccessTokenInput = inputType('HeldAccessTokenInput', TokenValue);

export const CreateAccessTokenPayload = objectType(
  'CreateAccessTokenPayload',
  'A new access token. The token itself is returned only once.',
  {
    accessToken: [String, 'The token. Send it as `Authorization: Bearer ...`.'],
    expiresIn: [Int, 'Seconds until the token expires; 0 if it never expires.'],
    accessTokenMaxTTL: [Int, 'Maximum lifetime in seconds, including renewals; 0 for no limit.'],
    tokenType: [String, 'Always `Bearer`.'],
    tokenData: [AccessTokenType, 'The stored fields of the token.'],
  },
);
export type CreateAccessTokenPayload = InstanceType<typeof CreateAccessTokenPayload>;

export const RenewAccessTokenPayload = objectType('RenewAccessTokenPayload', 'Result of `renewAccessToken`.', {
  accessToken: [String, 'The token, which is unchanged.'],
  expiresIn: [Int, 'Seconds until the token expires; 0 if it never expires.'],
  accessTokenMaxTTL: [Int, 'Maximum lifetime in seconds from the creation, including renewals; 0 for no limit.'],
  tokenType: [String, 'Always `Bearer`.'],
});
export type RenewAccessTokenPayload = InstanceType<typeof RenewAccessTokenPayload>;

export const RevokeAccessTokenPayload = objectType('RevokeAccessTokenPayload', 'Result of `revokeAccessToken`.', {
  token: [AccessTokenType, 'The revoked token.'],
  message: [String, 'Message for people.'],
});
export type RevokeAccessTokenPayload = InstanceType<typeof RevokeAccessTokenPayload>;

export const RevokeAccessTokensPayload = objectType(
  'RevokeAccessTokensPayload',
  'Result of `revokeAccessTokens`: the tokens that were revoked or, with `dryRun`, would be.',
  {
    dryRun: [Boolean, 'Whether this was a preview that changed nothing.'],
    tokens: [
      [AccessTokenType],
      'The revoked tokens, without those that were revoked before: the selected ones, in the order of their IDs or of ' +
        '`accessTokens`, then the tokens that they created for the same holders. In a preview, the unchanged tokens.',
    ],
    hasMore: [Boolean, 'Whether more tokens match than the 1,000 of one call. Call again for the next ones.'],
  },
);
export type RevokeAccessTokensPayload = InstanceType<typeof RevokeAccessTokensPayload>;

export const RevokeHeldAccessTokenPayload = objectType(
  'RevokeHeldAccessTokenPayload',
  'Result of `revokeOwnAccessToken`.',
  {
    accessTokenId: [ID, 'ID of the token.'],
    message: [String, 'Message for people.'],
  },
);
export type RevokeHeldAccessTokenPayload = InstanceType<typeof RevokeHeldAccessTokenPayload>;

/** How a token is sent. */
export const TOKEN_TYPE = 'Bearer';

/** A new token in the form of the API. */
export const toIssuedPayload = ({ accessToken, tokenData }: IssuedToken): CreateAccessTokenPayload => ({
  accessToken,
  expiresIn: tokenData.accessTokenTTL,
  accessTokenMaxTTL: tokenData.accessTokenMaxTTL,
  tokenType: TOKEN_TYPE,
  tokenData,
});
