import { Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { Input } from '../../../kernel/graphql/inputs.js';
import type { UniversalAuthService } from './universal-auth.service.js';
import {
  AttachUniversalAuthInput,
  AttachUniversalAuthPayload,
  RemoveUniversalAuthInput,
  RemoveUniversalAuthPayload,
  UniversalAuthArgs,
  UniversalAuthType,
  UpdateUniversalAuthInput,
  UpdateUniversalAuthPayload,
} from './universal-auth.type.js';

@Resolver(() => UniversalAuthType)
export class UniversalAuthResolver {
  constructor(private readonly service: UniversalAuthService) {}

  @Query(() => UniversalAuthType, { description: 'The universal-auth configuration of a machine identity.' })
  identityUniversalAuth(@Ctx() ctx: Context, @Args(() => UniversalAuthArgs) args: object): Promise<UniversalAuthType> {
    return this.service.get(ctx, args);
  }

  @Mutation(() => AttachUniversalAuthPayload, {
    description: 'Attaches universal authentication to a machine identity, which gets a client id.',
  })
  async attachUniversalAuth(
    @Ctx() ctx: Context,
    @Input(AttachUniversalAuthInput) input: object,
  ): Promise<{ universalAuth: UniversalAuthType }> {
    return { universalAuth: await this.service.attach(ctx, input) };
  }

  @Mutation(() => UpdateUniversalAuthPayload, {
    description: 'Changes the universal-auth configuration of a machine identity.',
  })
  async updateUniversalAuth(
    @Ctx() ctx: Context,
    @Input(UpdateUniversalAuthInput) input: object,
  ): Promise<{ universalAuth: UniversalAuthType }> {
    return { universalAuth: await this.service.update(ctx, input) };
  }

  @Mutation(() => RemoveUniversalAuthPayload, {
    description:
      'Removes universal authentication from a machine identity. Its client secrets and the tokens that they made stop at once.',
  })
  async removeUniversalAuth(
    @Ctx() ctx: Context,
    @Input(RemoveUniversalAuthInput) input: object,
  ): Promise<{ universalAuth: UniversalAuthType }> {
    return { universalAuth: await this.service.remove(ctx, input) };
  }
}
