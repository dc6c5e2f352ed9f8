import { Resolver } from 'type-graphql';
import type { Context } from '../../../../kernel/context.js';
import { mutation, query } from '../../../../kernel/graphql/operations.js';
import { AttachTokenAuth, OneTokenAuth, UpdateTokenAuth } from '../token-auth.rules.js';
import type { TokenAuthService } from './token-auth.service.js';
import { TokenAuthType } from './token-auth.type.js';

@Resolver(() => TokenAuthType)
export class TokenAuthResolver {
  constructor(private readonly service: TokenAuthService) {}

  @query(TokenAuthType, OneTokenAuth, 'Returns the settings of token authentication of a machine identity.')
  identityTokenAuth(ctx: Context, args: object): Promise<TokenAuthType> {
    return this.service.get(ctx, args);
  }

  @mutation(
    AttachTokenAuth,
    { tokenAuth: [TokenAuthType, 'The settings of the attached token authentication.'] },
    'Attaches token authentication to a machine identity, so that tokens can be created for it.',
  )
  async attachTokenAuth(ctx: Context, input: object): Promise<{ tokenAuth: TokenAuthType }> {
    return { tokenAuth: await this.service.attach(ctx, input) };
  }

  @mutation(
    UpdateTokenAuth,
    { tokenAuth: [TokenAuthType, 'The updated settings.'] },
    'Changes the settings of token authentication of a machine identity.',
  )
  async updateTokenAuth(ctx: Context, input: object): Promise<{ tokenAuth: TokenAuthType }> {
    return { tokenAuth: await this.service.update(ctx, input) };
  }

  @mutation(
    OneTokenAuth,
    { tokenAuth: [TokenAuthType, 'The settings of the removed token authentication.'] },
    'Removes token authentication from a machine identity. All tokens of this method are revoked immediately.',
  )
  async removeTokenAuth(ctx: Context, input: object): Promise<{ tokenAuth: TokenAuthType }> {
    return { tokenAuth: await this.service.remove(ctx, input) };
  }
}
