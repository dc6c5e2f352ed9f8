import { Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import type { Context } from '../../kernel/context.js';
import { Input } from '../../kernel/graphql/inputs.js';
import type { TokenAuthService } from './token-auth.service.js';
import {
  AttachTokenAuthInput,
  AttachTokenAuthPayload,
  RemoveTokenAuthInput,
  RemoveTokenAuthPayload,
  TokenAuthArgs,
  TokenAuthType,
  UpdateTokenAuthInput,
  UpdateTokenAuthPayload,
} from './token-auth.type.js';

@Resolver(() => TokenAuthType)
export class TokenAuthResolver {
  constructor(private readonly service: TokenAuthService) {}

  @Query(() => TokenAuthType, { description: 'The token-auth configuration of a machine identity.' })
  identityTokenAuth(@Ctx() ctx: Context, @Args(() => TokenAuthArgs) args: object): Promise<TokenAuthType> {
    return this.service.get(ctx, args);
  }

  @Mutation(() => AttachTokenAuthPayload, { description: 'Attaches token authentication to a machine identity.' })
  async attachTokenAuth(
    @Ctx() ctx: Context,
    @Input(AttachTokenAuthInput) input: object,
  ): Promise<{ tokenAuth: TokenAuthType }> {
    return { tokenAuth: await this.service.attach(ctx, input) };
  }

  @Mutation(() => UpdateTokenAuthPayload, {
    description: 'Changes the token-auth configuration of a machine identity.',
  })
  async updateTokenAuth(
    @Ctx() ctx: Context,
    @Input(UpdateTokenAuthInput) input: object,
  ): Promise<{ tokenAuth: TokenAuthType }> {
    return { tokenAuth: await this.service.update(ctx, input) };
  }

  @Mutation(() => RemoveTokenAuthPayload, {
    description: 'Removes token authentication from a machine identity. All its tokens stop at once.',
  })
  async removeTokenAuth(
    @Ctx() ctx: Context,
    @Input(RemoveTokenAuthInput) input: object,
  ): Promise<{ tokenAuth: TokenAuthType }> {
    return { tokenAuth: await this.service.remove(ctx, input) };
  }
}
