import { Extensions, Resolver } from 'type-graphql';
import type { AnonymousContext, Context } from '../../kernel/context.js';
import { PUBLIC } from '../../kernel/graphql/gate/public-operations.js';
import { MINT } from '../../kernel/graphql/limited-operations.js';
import { mutation, query } from '../../kernel/graphql/operations.js';
import { CreatePersonalToken, CreateToken, OneToken, RenameToken } from './access-token.rules.js';
import type { AccessTokenService } from './access-token.service.js';
import {
  AccessTokenType,
  CreateAccessTokenPayload,
  HeldAccessTokenInput,
  RenewAccessTokenPayload,
  RevokeAccessTokenPayload,
  RevokeHeldAccessTokenPayload,
  TOKEN_TYPE,
  toIssuedPayload,
} from './access-token.type.js';
import type { TokenHolderService } from './token-holder.service.js';

const message = 'The token was revoked.';

@Resolver(() => AccessTokenType)
export class AccessTokenResolver {
  constructor(
    private readonly service: AccessTokenService,
    private readonly holders: TokenHolderService,
  ) {}

  @query(AccessTokenType, OneToken, 'One token, without the token itself.')
  accessToken(ctx: Context, args: object): Promise<AccessTokenType> {
    return this.service.get(ctx, args);
  }

  @Extensions(MINT)
  @mutation(
    CreateToken,
    CreateAccessTokenPayload,
    'Makes a token for a machine identity, as its token-auth configuration says. It is shown this once. One for your own identity has at most the life and uses that your token has left, takes the uses from it, and is revoked with it.',
  )
  async createAccessToken(ctx: Context, input: object): Promise<CreateAccessTokenPayload> {
    return toIssuedPayload(await this.service.create(ctx, input));
  }

  @Extensions(MINT)
  @mutation(
    CreatePersonalToken,
    CreateAccessTokenPayload,
    'Makes a token for a user, shown this once. A user makes its own; an admin of the organization makes any user’s, because the first token of a person has to come from somebody. One for yourself has at most the life and uses that your token has left, takes the uses from it, and is revoked with it.',
  )
  async createPersonalAccessToken(ctx: Context, input: object): Promise<CreateAccessTokenPayload> {
    return toIssuedPayload(await this.service.createPersonal(ctx, input));
  }

  @mutation(RenameToken, { token: [AccessTokenType, 'The token as it is now.'] }, 'Gives a token another name.')
  async renameAccessToken(ctx: Context, input: object): Promise<{ token: AccessTokenType }> {
    return { token: await this.service.rename(ctx, input) };
  }

  @mutation(
    OneToken,
    RevokeAccessTokenPayload,
    'Revokes a token by its id, and what it made for its own holder, at once and for good.',
  )
  async revokeAccessToken(ctx: Context, input: object): Promise<RevokeAccessTokenPayload> {
    return { token: await this.service.revoke(ctx, input), message };
  }

  @Extensions(PUBLIC)
  @mutation(
    HeldAccessTokenInput,
    RenewAccessTokenPayload,
    'Lets the token that you hold live for another TTL. It needs no Authorization header and counts no use.',
  )
  async renewAccessToken(ctx: Context | AnonymousContext, input: object): Promise<RenewAccessTokenPayload> {
    return { ...(await this.holders.renew(ctx, input)), tokenType: TOKEN_TYPE };
  }

  @Extensions(PUBLIC)
  @mutation(
    HeldAccessTokenInput,
    RevokeHeldAccessTokenPayload,
    'Revokes the token that you hold, and what it made for your own identity or user. It needs no Authorization header and counts no use.',
  )
  async revokeHeldAccessToken(ctx: Context | AnonymousContext, input: object): Promise<RevokeHeldAccessTokenPayload> {
    return { accessTokenId: await this.holders.revoke(ctx, input), message };
  }
}
