import { Field, ID, Int, ObjectType } from 'type-graphql';
import { DateTime } from '../../kernel/graphql/date-time.js';
import { inputType } from '../../kernel/graphql/inputs.js';
import { Node } from '../../kernel/graphql/node.js';
import { countedConnectionOf } from '../../kernel/graphql/page.js';
import { type AuthMethod, AuthMethodEnum } from '../identities/public.js';
import { TokenValue } from './access-token.rules.js';
import type { IssuedToken } from './access-token.store.js';

@ObjectType('AccessToken', {
  implements: Node,
  description: 'A bearer token of a machine identity or a user: everything but the token itself, which is not kept.',
  simpleResolvers: true,
})
export class AccessTokenType {
  @Field(() => ID, { description: 'Identifies the token. It is not the token.' })
  id!: string;

  @Field(() => ID, { nullable: true, description: 'The machine identity that it belongs to; null for a personal one.' })
  identityId!: string | null;

  @Field(() => ID, { nullable: true, description: 'The user that a personal one belongs to.' })
  userId!: string | null;

  @Field(() => DateTime, { description: 'When it was made.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When it was last renamed, renewed or revoked.' })
  updatedAt!: Date;

  @Field(() => AuthMethodEnum, { description: 'How it came to be.' })
  authMethod!: AuthMethod;

  @Field(() => Int, { description: 'Seconds that it lives from its making or last renewal; 0 for no limit.' })
  accessTokenTTL!: number;

  @Field(() => Int, { description: 'Seconds that renewals can make it live from its making; 0 for no limit.' })
  accessTokenMaxTTL!: number;

  @Field(() => Int, {
    description:
      'How often it was used, and the uses that it gave to tokens it made for its own holder. Exact for a limited token; otherwise up to a minute late. More than 2,147,483,647 are shown as that number.',
  })
  accessTokenNumUses!: number;

  @Field(() => Int, { description: 'How often it may be used; 0 for no limit.' })
  accessTokenNumUsesLimit!: number;

  @Field(() => DateTime, {
    nullable: true,
    description: 'When it was last used. Exact for a limited token; otherwise up to a minute late.',
  })
  accessTokenLastUsedAt!: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'When it was last renewed.' })
  accessTokenLastRenewedAt!: Date | null;

  @Field(() => Boolean, { description: 'It was revoked and passes no more.' })
  isAccessTokenRevoked!: boolean;

  @Field(() => ID, {
    nullable: true,
    description: 'The client secret that its identity logged in with; null for a token made in another way.',
  })
  identityUAClientSecretId!: string | null;

  @Field(() => String, { nullable: true, description: 'What people call it.' })
  name!: string | null;

  @Field(() => Int, { description: 'Seconds of a renewal period: always 0, renewals take the TTL.' })
  accessTokenPeriod!: number;

  @Field(() => ID, { nullable: true, description: 'The sub-organization that it is scoped to; null for a root one.' })
  subOrganizationId!: string | null;

  @Field(() => DateTime, {
    nullable: true,
    description: 'When it expires unless it is renewed; null for never.',
  })
  expiresAt!: Date | null;

  @Field(() => ID, {
    nullable: true,
    description:
      'The token of the same holder that made it, which bounds its life and uses, and with which it is revoked; null for a token made in another way.',
  })
  makerTokenId!: string | null;
}

export const AccessTokenConnection = countedConnectionOf(
  AccessTokenType,
  'AccessToken',
  'newest change first, then ID',
);

export const HeldAccessTokenInput = inputType('HeldAccessTokenInput', TokenValue);

@ObjectType({ description: 'A token that was just made. This is the only time that it is shown.' })
export class CreateAccessTokenPayload {
  @Field(() => String, { description: 'The token: send it as `Authorization: Bearer ...`.' })
  accessToken!: string;

  @Field(() => Int, { description: 'Seconds until it expires; 0 for never.' })
  expiresIn!: number;

  @Field(() => Int, { description: 'Seconds that renewals can make it live; 0 for no limit.' })
  accessTokenMaxTTL!: number;

  @Field(() => String, { description: 'Always `Bearer`.' })
  tokenType!: string;

  @Field(() => AccessTokenType, { description: 'What is kept of it.' })
  tokenData!: AccessTokenType;
}

@ObjectType({ description: 'The renewed token.' })
export class RenewAccessTokenPayload {
  @Field(() => String, { description: 'The same token as before.' })
  accessToken!: string;

  @Field(() => Int, { description: 'Seconds until it expires; 0 for never.' })
  expiresIn!: number;

  @Field(() => Int, { description: 'Seconds that renewals can make it live from its making; 0 for no limit.' })
  accessTokenMaxTTL!: number;

  @Field(() => String, { description: 'Always `Bearer`.' })
  tokenType!: string;
}

@ObjectType({ description: 'The revoked token.' })
export class RevokeAccessTokenPayload {
  @Field(() => AccessTokenType, { description: 'The token as it is now.' })
  token!: AccessTokenType;

  @Field(() => String, { description: 'One sentence for a person.' })
  message!: string;
}

@ObjectType({ description: 'What was revoked, or with `dryRun` would be.', simpleResolvers: true })
export class RevokeAccessTokensPayload {
  @Field(() => Boolean, { description: 'Nothing was written.' })
  dryRun!: boolean;

  @Field(() => [AccessTokenType], {
    description:
      'The tokens that were not revoked before: those that were chosen, in the order of their ids or of `accessTokens`, then what they made for their own holders. Of a dry run as they are now.',
  })
  tokens!: readonly AccessTokenType[];

  @Field(() => Boolean, { description: 'More tokens than 1,000 fit: ask again for the next ones.' })
  hasMore!: boolean;
}

@ObjectType({ description: 'The token that gave itself up.' })
export class RevokeHeldAccessTokenPayload {
  @Field(() => ID, { description: 'ID of the token.' })
  accessTokenId!: string;

  @Field(() => String, { description: 'One sentence for a person.' })
  message!: string;
}

/** How a token is sent. */
export const TOKEN_TYPE = 'Bearer';

/** A token that was just made, as the interface shows it this once. */
export const toIssuedPayload = ({ accessToken, tokenData }: IssuedToken): CreateAccessTokenPayload => ({
  accessToken,
  expiresIn: tokenData.accessTokenTTL,
  accessTokenMaxTTL: tokenData.accessTokenMaxTTL,
  tokenType: TOKEN_TYPE,
  tokenData,
});
