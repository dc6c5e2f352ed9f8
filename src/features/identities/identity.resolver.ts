import { Arg, Args, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import type { Context } from '../../kernel/context.js';
import { type ConnectionOf, PageArgs } from '../../kernel/graphql/page.js';
import type { IdentityService } from './identity.service.js';
import {
  CreateIdentityInput,
  CreateIdentityPayload,
  DeleteIdentityInput,
  DeleteIdentityPayload,
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
    return this.service.get(ctx, { identityId: id });
  }

  @Query(() => IdentityConnection, { description: 'The machine identities of your organization, by name.' })
  identities(
    @Ctx() ctx: Context,
    @Args(() => PageArgs) page: PageArgs,
    @Arg('organizationId', () => ID, { nullable: true, description: 'Your organization; any other is not found.' })
    organizationId?: string,
  ): Promise<ConnectionOf<IdentityType>> {
    return this.service.list(ctx, { ...page, organizationId });
  }

  @Mutation(() => CreateIdentityPayload, {
    description: 'Makes a machine identity. Attach token authentication to give it tokens.',
  })
  async createIdentity(
    @Ctx() ctx: Context,
    @Arg('input', () => CreateIdentityInput, { description: 'The new identity.' }) input: CreateIdentityInput,
  ): Promise<CreateIdentityPayload> {
    return { identity: await this.service.create(ctx, input) };
  }

  @Mutation(() => UpdateIdentityPayload, { description: 'Changes the name or the role of a machine identity.' })
  async updateIdentity(
    @Ctx() ctx: Context,
    @Arg('input', () => UpdateIdentityInput, { description: 'What to change.' }) input: UpdateIdentityInput,
  ): Promise<UpdateIdentityPayload> {
    return { identity: await this.service.update(ctx, input) };
  }

  @Mutation(() => DeleteIdentityPayload, { description: 'Deletes a machine identity with all memberships and tokens.' })
  async deleteIdentity(
    @Ctx() ctx: Context,
    @Arg('input', () => DeleteIdentityInput, { description: 'Which one.' }) input: DeleteIdentityInput,
  ): Promise<DeleteIdentityPayload> {
    return { identity: await this.service.delete(ctx, input) };
  }
}
