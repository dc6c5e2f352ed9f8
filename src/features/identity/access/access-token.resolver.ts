import { Extensions, Resolver } from 'type-graphql';
import type { AnonymousContext, Context } from '../../../kernel/context.js';
import { PUBLIC } from '../../../kernel/graphql/gate/root-fields.js';
import { MINT } from '../../../kernel/graphql/limited-operations.js';
import { mutation, query } from '../../../kernel/graphql/operations.js';
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

  @query(AccessTokenType, OneToken, 'Returns an access token by ID, without the token itself.')
  accessToken(ctx: Context, args: object): Promise<AccessTokenType> {
    return this.service.get(ctx, args);
  }

  @Extensions(MINT)
  @mutation(
    CreateToken,
    CreateAccessTokenPayload,
    'Creates an access token for a machine identity according to its token-auth configuration. The token is ' +
      'returned only once. A token for your own identity is limited to the remaining lifetime and uses of your token, ' +
      'takes its uses from it, and is revoked with it.',
  )
  async createAccessToken(ctx: Context, input: object): Promise<CreateAccessTokenPayload> {
    return toIssuedPayload(await this.service.create(ctx, input));
  }

  @Extensions(MINT)
  @mutation(
    CreatePersonalToken,
    CreateAccessTokenPayload,
    'Creates an access token for a user. The token is returned only once. Users create their own tokens; an admin ' +
      'of the organization can create tokens for any user, for example the first one. A token for yourself is limited ' +
      'to the remaining lifetime and uses of your token, takes its uses from it, and is revoked with it.',
  )
  async createPersonalAccessToken(ctx: Context, input: object): Promise<CreateAccessTokenPayload> {
    return toIssuedPayload(await this.service.createPersonal(ctx, input));
  }

  @mutation(RenameToken, { token: [AccessTokenType, 'The updated token.'] }, 'Renames an access token.')
  async renameAccessToken(ctx: Context, input: object): Promise<{ token: AccessTokenType }> {
    return { token: await this.service.rename(ctx, input) };
  }

  @mutation(
    OneToken,
    RevokeAccessTokenPayload,
    'Revokes an access token permanently, with the tokens that it created for the same holder.',
  )
  async revokeAccessToken(ctx: Context, input: object): Promise<RevokeAccessTokenPayload> {
    return { token: await this.service.revoke(ctx, input), message };
  }

  @Extensions(PUBLIC)
  @mutation(
    HeldAccessTokenInput,
    RenewAccessTokenPayload,
    'Extends the lifetime of your access token by another TTL. Needs no Authorization header and does not count as a use.',
  )
  async renewAccessToken(ctx: Context | AnonymousContext, input: object): Promise<RenewAccessTokenPayload> {
    return { ...(await this.holders.renew(ctx, input)), tokenType: TOKEN_TYPE };
  }

  @Extensions(PUBLIC)
  @mutation(
    HeldAccessTokenInput,
    RevokeHeldAccessTokenPayload,
    'Revokes your access token, with the tokens that it created for the same identity or user. Needs no ' +
      'Authorization header and does not count as a use.',
  )
  async revokeHeldAccessToken(ctx: Context | AnonymousContext, input: object): Promise<RevokeHeldAccessTokenPayload> {
    return { accessTokenId: await this.holders.revoke(ctx, input), message };
  }
}
