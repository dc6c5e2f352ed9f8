import { Arg, Args, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import type { Context } from '../../kernel/context.js';
import { Input } from '../../kernel/graphql/inputs.js';
import type { ConnectionOf } from '../../kernel/graphql/page.js';
import type { IdentityService } from './identity.service.js';
import {
  CreateIdentityInput,
  CreateIdentityPayload,
  DeleteIdentityInput,
  DeleteIdentityPayload,
  IdentitiesArgs,
  IdentityConnection,
  IdentityType,
  UpdateIdentityInput,
  UpdateIdentityPayload,
} from './identity.type.js';

@Resolver(() => IdentityType)
export class IdentityResolver {
  constructor(private readonly service: IdentityService) {}

  @Query(() => IdentityType, { description: 'One machine identity of your organization.' })
  identity(
    @Ctx() ctx: Context,
    @Arg('id', () => ID, { description: 'The identity.' }) id: string,
  ): Promise<IdentityType> {
    return this.service.get(ctx, { id });
  }

  @Query(() => IdentityConnection, { description: 'The machine identities of your organization, by name.' })
  identities(@Ctx() ctx: Context, @Args(() => IdentitiesArgs) args: object): Promise<ConnectionOf<IdentityType>> {
    return this.service.list(ctx, args);
  }

  @Mutation(() => CreateIdentityPayload, {
    description: 'Makes a machine identity. Attach token authentication to give it tokens.',
  })
  async createIdentity(
    @Ctx() ctx: Context,
    @Input(CreateIdentityInput) input: object,
  ): Promise<{ identity: IdentityType }> {
    return { identity: await this.service.create(ctx, input) };
  }

  @Mutation(() => UpdateIdentityPayload, { description: 'Changes the name or the role of a machine identity.' })
  async updateIdentity(
    @Ctx() ctx: Context,
    @Input(UpdateIdentityInput) input: object,
  ): Promise<{ identity: IdentityType }> {
    return { identity: await this.service.update(ctx, input) };
  }

  @Mutation(() => DeleteIdentityPayload, { description: 'Deletes a machine identity with all memberships and tokens.' })
  async deleteIdentity(
    @Ctx() ctx: Context,
    @Input(DeleteIdentityInput) input: object,
  ): Promise<{ identity: IdentityType }> {
    return { identity: await this.service.delete(ctx, input) };
  }
}
