import { Arg, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import type { Context } from '../../kernel/context.js';
import type { UniversalAuthService } from './universal-auth.service.js';
import {
  AttachUniversalAuthInput,
  AttachUniversalAuthPayload,
  RemoveUniversalAuthInput,
  RemoveUniversalAuthPayload,
  UniversalAuthType,
  UpdateUniversalAuthInput,
  UpdateUniversalAuthPayload,
} from './universal-auth.type.js';

@Resolver(() => UniversalAuthType)
export class UniversalAuthResolver {
  constructor(private readonly service: UniversalAuthService) {}

  @Query(() => UniversalAuthType, { description: 'The universal-auth configuration of a machine identity.' })
  identityUniversalAuth(
    @Ctx() ctx: Context,
    @Arg('identityId', () => ID, { description: 'The identity.' }) identityId: string,
  ): Promise<UniversalAuthType> {
    return this.service.get(ctx, { identityId });
  }

  @Mutation(() => AttachUniversalAuthPayload, {
    description: 'Attaches universal authentication to a machine identity, which gets a client id.',
  })
  async attachUniversalAuth(
    @Ctx() ctx: Context,
    @Arg('input', () => AttachUniversalAuthInput, { description: 'The identity and the configuration.' })
    input: AttachUniversalAuthInput,
  ): Promise<AttachUniversalAuthPayload> {
    return { universalAuth: await this.service.attach(ctx, input) };
  }

  @Mutation(() => UpdateUniversalAuthPayload, {
    description: 'Changes the universal-auth configuration of a machine identity.',
  })
  async updateUniversalAuth(
    @Ctx() ctx: Context,
    @Arg('input', () => UpdateUniversalAuthInput, { description: 'What to change.' }) input: UpdateUniversalAuthInput,
  ): Promise<UpdateUniversalAuthPayload> {
    return { universalAuth: await this.service.update(ctx, input) };
  }

  @Mutation(() => RemoveUniversalAuthPayload, {
    description:
      'Removes universal authentication from a machine identity. Its client secrets and the tokens that they made stop at once.',
  })
  async removeUniversalAuth(
    @Ctx() ctx: Context,
    @Arg('input', () => RemoveUniversalAuthInput, { description: 'The identity.' }) input: RemoveUniversalAuthInput,
  ): Promise<RemoveUniversalAuthPayload> {
    return { universalAuth: await this.service.remove(ctx, input) };
  }
}
