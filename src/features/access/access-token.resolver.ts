import { Arg, Args, Ctx, Extensions, ID, Int, Mutation, Query, Resolver } from 'type-graphql';
import type { AnonymousContext, Context } from '../../kernel/context.js';
import { MINT } from '../../kernel/graphql/limited-operations.js';
import { type ConnectionOf, PageArgs } from '../../kernel/graphql/page.js';
import { PUBLIC } from '../../kernel/graphql/public-operations.js';
import type { AccessTokenService } from './access-token.service.js';
import type { IssuedToken } from './access-token.store.js';
import {
  AccessTokenConnection,
  AccessTokenType,
  CreateAccessTokenInput,
  CreateAccessTokenPayload,
  CreatePersonalAccessTokenInput,
  HeldAccessTokenInput,
  RenameAccessTokenInput,
  RenameAccessTokenPayload,
  RenewAccessTokenPayload,
  RevokeAccessTokenInput,
  RevokeAccessTokenPayload,
  RevokeHeldAccessTokenPayload,
} from './access-token.type.js';
import type { TokenHolderService } from './token-holder.service.js';

const OFFSET = { nullable: true, description: 'Leaves out this many rows first, 0 to 100.' } as const;
const tokenType = 'Bearer';
const message = 'The token was revoked.';

/** A token that was just made, as the interface shows it this once. */
export const toIssuedPayload = ({ accessToken, tokenData }: IssuedToken): CreateAccessTokenPayload => ({
  accessToken,
  expiresIn: tokenData.accessTokenTTL,
  accessTokenMaxTTL: tokenData.accessTokenMaxTTL,
  tokenType,
  tokenData,
});

@Resolver(() => AccessTokenType)
export class AccessTokenResolver {
  constructor(
    private readonly service: AccessTokenService,
    private readonly holders: TokenHolderService,
  ) {}

  @Query(() => AccessTokenType, { description: 'One token, without the token itself.' })
  accessToken(
    @Ctx() ctx: Context,
    @Arg('id', () => ID, { description: 'The token.' }) id: string,
  ): Promise<AccessTokenType> {
    return this.service.get(ctx, { accessTokenId: id });
  }

  @Query(() => AccessTokenConnection, { description: 'The tokens of a machine identity, newest change first.' })
  accessTokens(
    @Ctx() ctx: Context,
    @Args(() => PageArgs) page: PageArgs,
    @Arg('identityId', () => ID, { description: 'The machine identity.' }) identityId: string,
    @Arg('offset', () => Int, OFFSET) offset?: number,
  ): Promise<ConnectionOf<AccessTokenType>> {
    return this.service.list(ctx, { ...page, identityId, offset });
  }

  @Query(() => AccessTokenConnection, {
    description:
      'The personal access tokens of a user, newest change first: your own, or as an admin of the organization anyone’s.',
  })
  personalAccessTokens(
    @Ctx() ctx: Context,
    @Args(() => PageArgs) page: PageArgs,
    @Arg('userId', () => ID, { description: 'The user.' }) userId: string,
    @Arg('offset', () => Int, OFFSET) offset?: number,
  ): Promise<ConnectionOf<AccessTokenType>> {
    return this.service.listPersonal(ctx, { ...page, userId, offset });
  }

  @Extensions(MINT)
  @Mutation(() => CreateAccessTokenPayload, {
    description:
      'Makes a token for a machine identity, as its token-auth configuration says. It is shown this once. One for your own identity has at most the life and uses that your token has left, takes the uses from it, and is revoked with it.',
  })
  async createAccessToken(
    @Ctx() ctx: Context,
    @Arg('input', () => CreateAccessTokenInput, { description: 'For whom, and its scope.' })
    input: CreateAccessTokenInput,
  ): Promise<CreateAccessTokenPayload> {
    return toIssuedPayload(await this.service.create(ctx, input));
  }

  @Extensions(MINT)
  @Mutation(() => CreateAccessTokenPayload, {
    description:
      'Makes a token for a user, shown this once. A user makes its own; an admin of the organization makes any user’s, because the first token of a person has to come from somebody. One for yourself has at most the life and uses that your token has left, takes the uses from it, and is revoked with it.',
  })
  async createPersonalAccessToken(
    @Ctx() ctx: Context,
    @Arg('input', () => CreatePersonalAccessTokenInput, { description: 'For whom, its scope and its life.' })
    input: CreatePersonalAccessTokenInput,
  ): Promise<CreateAccessTokenPayload> {
    return toIssuedPayload(await this.service.createPersonal(ctx, input));
  }

  @Mutation(() => RenameAccessTokenPayload, { description: 'Gives a token another name.' })
  async renameAccessToken(
    @Ctx() ctx: Context,
    @Arg('input', () => RenameAccessTokenInput, { description: 'Which one, and its new name.' })
    input: RenameAccessTokenInput,
  ): Promise<RenameAccessTokenPayload> {
    return { token: await this.service.rename(ctx, input) };
  }

  @Mutation(() => RevokeAccessTokenPayload, {
    description: 'Revokes a token by its id, and what it made for its own holder, at once and for good.',
  })
  async revokeAccessToken(
    @Ctx() ctx: Context,
    @Arg('input', () => RevokeAccessTokenInput, { description: 'Which one.' }) input: RevokeAccessTokenInput,
  ): Promise<RevokeAccessTokenPayload> {
    return { token: await this.service.revoke(ctx, input), message };
  }

  @Extensions(PUBLIC)
  @Mutation(() => RenewAccessTokenPayload, {
    description:
      'Lets the token that you hold live for another TTL. It needs no Authorization header and counts no use.',
  })
  async renewAccessToken(
    @Ctx() ctx: Context | AnonymousContext,
    @Arg('input', () => HeldAccessTokenInput, { description: 'The token.' }) input: HeldAccessTokenInput,
  ): Promise<RenewAccessTokenPayload> {
    return { ...(await this.holders.renew(ctx, input)), tokenType };
  }

  @Extensions(PUBLIC)
  @Mutation(() => RevokeHeldAccessTokenPayload, {
    description:
      'Revokes the token that you hold, and what it made for your own identity or user. It needs no Authorization header and counts no use.',
  })
  async revokeHeldAccessToken(
    @Ctx() ctx: Context | AnonymousContext,
    @Arg('input', () => HeldAccessTokenInput, { description: 'The token.' }) input: HeldAccessTokenInput,
  ): Promise<RevokeHeldAccessTokenPayload> {
    return { id: await this.holders.revoke(ctx, input), message };
  }
}
