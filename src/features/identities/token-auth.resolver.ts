import { Arg, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import type { Context } from '../../kernel/context.js';
import type { TokenAuthService } from './token-auth.service.js';
import {
  AttachTokenAuthInput,
  AttachTokenAuthPayload,
  RemoveTokenAuthInput,
  RemoveTokenAuthPayload,
  TokenAuthType,
  UpdateTokenAuthInput,
  UpdateTokenAuthPayload,
} from './token-auth.type.js';

@Resolver(() => TokenAuthType)
export class TokenAuthResolver {
  constructor(private readonly service: TokenAuthService) {}

  @Query(() => TokenAuthType, { description: 'The token-auth configuration of a machine identity.' })
  identityTokenAuth(
    @Ctx() ctx: Context,
    @Arg('identityId', () => ID, { description: 'The identity.' }) identityId: string,
  ): Promise<TokenAuthType> {
    return this.service.get(ctx, { identityId });
  }

  @Mutation(() => AttachTokenAuthPayload, { description: 'Attaches token authentication to a machine identity.' })
  async attachTokenAuth(
    @Ctx() ctx: Context,
    @Arg('input', () => AttachTokenAuthInput, { description: 'The identity and the configuration.' })
    input: AttachTokenAuthInput,
  ): Promise<AttachTokenAuthPayload> {
    return { tokenAuth: await this.service.attach(ctx, input) };
  }

  @Mutation(() => UpdateTokenAuthPayload, {
    description: 'Changes the token-auth configuration of a machine identity.',
  })
  async updateTokenAuth(
    @Ctx() ctx: Context,
    @Arg('input', () => UpdateTokenAuthInput, { description: 'What to change.' }) input: UpdateTokenAuthInput,
  ): Promise<UpdateTokenAuthPayload> {
    return { tokenAuth: await this.service.update(ctx, input) };
  }

  @Mutation(() => RemoveTokenAuthPayload, {
    description: 'Removes token authentication from a machine identity. All its tokens stop at once.',
  })
  async removeTokenAuth(
    @Ctx() ctx: Context,
    @Arg('input', () => RemoveTokenAuthInput, { description: 'The identity.' }) input: RemoveTokenAuthInput,
  ): Promise<RemoveTokenAuthPayload> {
    return { tokenAuth: await this.service.remove(ctx, input) };
  }
}
