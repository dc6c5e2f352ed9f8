import { Field, ID, Int, ObjectType } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { inputType } from '../../../kernel/graphql/inputs.js';
import { Node } from '../../../kernel/graphql/node.js';
import { countedConnectionOf } from '../../../kernel/graphql/page.js';
import { type AuthMethod, AuthMethodEnum } from '../identities/public.js';
import { TokenValue } from './access-token.rules.js';
import type { IssuedToken } from './token-issuing.js';

@ObjectType('AccessToken', {
  implements: Node,
  description: 'An access token of a machine identity or a user. The token itself is not stored and not returned.',
  simpleResolvers: true,
})
export class AccessTokenType {
  @Field(() => ID, { description: 'ID of the token. It is not the token itself.' })
  id!: string;

  @Field(() => ID, { nullable: true, description: 'ID of the machine identity; null for a personal token.' })
  identityId!: string | null;

  @Field(() => ID, { nullable: true, description: 'ID of the user; null for the token of a machine identity.' })
  userId!: string | null;

  @Field(() => DateTime, { description: 'When the token was created.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When the token was last renamed, renewed or revoked.' })
  updatedAt!: Date;

  @Field(() => AuthMethodEnum, { description: 'How the token was created.' })
  authMethod!: AuthMethod;

  @Field(() => Int, { description: 'Lifetime in seconds from the creation or the last renewal; 0 for no limit.' })
  accessTokenTTL!: number;

  @Field(() => Int, {
    description: 'Maximum lifetime in seconds from the creation, including renewals; 0 for no limit.',
  })
  accessTokenMaxTTL!: number;

  @Field(() => Int, {
    description:
      'Number of uses, including the uses handed to tokens that it created for the same holder. Exact for a token ' +
      'with a use limit; otherwise up to a minute late. At most 2,147,483,647.',
  })
  accessTokenNumUses!: number;

  @Field(() => Int, { description: 'Maximum number of uses; 0 for no limit.' })
  accessTokenNumUsesLimit!: number;

  @Field(() => DateTime, {
    nullable: true,
    description: 'When the token was last used. Exact for a token with a use limit; otherwise up to a minute late.',
  })
  accessTokenLastUsedAt!: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'When the token was last renewed.' })
  accessTokenLastRenewedAt!: Date | null;

  @Field(() => Boolean, { description: 'Whether the token was revoked.' })
  isAccessTokenRevoked!: boolean;

  @Field(() => ID, {
    nullable: true,
    description: 'ID of the client secret that the identity logged in with; null for a token created in another way.',
  })
  identityUAClientSecretId!: string | null;

  @Field(() => String, { nullable: true, description: 'Name of the token, for example `deploy pipeline`.' })
  name!: string | null;

  @Field(() => Int, { description: 'Renewal period in seconds. Always 0: a renewal extends the lifetime by the TTL.' })
  accessTokenPeriod!: number;

  @Field(() => ID, {
    nullable: true,
    description: 'ID of the sub-organization that the token is scoped to; null for a token of the root organization.',
  })
  subOrganizationId!: string | null;

  @Field(() => DateTime, {
    nullable: true,
    description: 'When the token expires unless it is renewed; null if it never expires.',
  })
  expiresAt!: Date | null;

  @Field(() => ID, {
    nullable: true,
    description:
      'ID of the token of the same holder that created it; null for a token created in another way. The creating ' +
      'token limits its lifetime and uses, and its revocation also revokes this one.',
  })
  makerTokenId!: string | null;
}

export const AccessTokenConnection = countedConnectionOf(
  AccessTokenType,
  'AccessToken',
  'latest change first, then ID',
);

export const HeldAccessTokenInput = inputType('HeldAccessTokenInput', TokenValue);

@ObjectType({ description: 'A new access token. The token itself is returned only once.' })
export class CreateAccessTokenPayload {
  @Field(() => String, { description: 'The token. Send it as `Authorization: Bearer ...`.' })
  accessToken!: string;

  @Field(() => Int, { description: 'Seconds until the token expires; 0 if it never expires.' })
  expiresIn!: number;

  @Field(() => Int, { description: 'Maximum lifetime in seconds, including renewals; 0 for no limit.' })
  accessTokenMaxTTL!: number;

  @Field(() => String, { description: 'Always `Bearer`.' })
  tokenType!: string;

  @Field(() => AccessTokenType, { description: 'The stored fields of the token.' })
  tokenData!: AccessTokenType;
}

@ObjectType({ description: 'Result of `renewAccessToken`.' })
export class RenewAccessTokenPayload {
  @Field(() => String, { description: 'The token, which is unchanged.' })
  accessToken!: string;

  @Field(() => Int, { description: 'Seconds until the token expires; 0 if it never expires.' })
  expiresIn!: number;

  @Field(() => Int, {
    description: 'Maximum lifetime in seconds from the creation, including renewals; 0 for no limit.',
  })
  accessTokenMaxTTL!: number;

  @Field(() => String, { description: 'Always `Bearer`.' })
  tokenType!: string;
}

@ObjectType({ description: 'Result of `revokeAccessToken`.' })
export class RevokeAccessTokenPayload {
  @Field(() => AccessTokenType, { description: 'The revoked token.' })
  token!: AccessTokenType;

  @Field(() => String, { description: 'Message for people.' })
  message!: string;
}

@ObjectType({
  description: 'Result of `revokeAccessTokens`: the tokens that were revoked or, with `dryRun`, would be.',
  simpleResolvers: true,
})
export class RevokeAccessTokensPayload {
  @Field(() => Boolean, { description: 'Whether this was a preview that changed nothing.' })
  dryRun!: boolean;

  @Field(() => [AccessTokenType], {
    description:
      'The revoked tokens, without those that were revoked before: the selected ones, in the order of their IDs or of ' +
      '`accessTokens`, then the tokens that they created for the same holders. In a preview, the unchanged tokens.',
  })
  tokens!: readonly AccessTokenType[];

  @Field(() => Boolean, {
    description: 'Whether more tokens match than the 1,000 of one call. Call again for the next ones.',
  })
  hasMore!: boolean;
}

@ObjectType({ description: 'Result of `revokeOwnAccessToken`.' })
export class RevokeHeldAccessTokenPayload {
  @Field(() => ID, { description: 'ID of the token.' })
  accessTokenId!: string;

  @Field(() => String, { description: 'Message for people.' })
  message!: string;
}

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
