import { Arg, Args, Ctx, Extensions, ID, Mutation, Query, Resolver } from 'type-graphql';
import type { Context } from '../../kernel/context.js';
import { MINT } from '../../kernel/graphql/limited-operations.js';
import { mutation } from '../../kernel/graphql/operations.js';
import { PageArgs } from '../../kernel/graphql/page.js';
import type { ConnectionOf } from '../../kernel/paging.js';
import { UpdateOrganization } from './organization.rules.js';
import type { OrganizationService } from './organization.service.js';
import {
  CreateOrganizationInput,
  CreateOrganizationPayload,
  CreateSubOrganizationInput,
  CreateSubOrganizationPayload,
  DeleteOrganizationInput,
  DeleteOrganizationPayload,
  OrganizationConnection,
  OrganizationType,
} from './organization.type.js';

@Resolver(() => OrganizationType)
export class OrganizationResolver {
  constructor(private readonly service: OrganizationService) {}

  @Query(() => OrganizationType, {
    description: 'An organization that your token can see; without an id the one it is scoped to.',
  })
  organization(
    @Ctx() ctx: Context,
    @Arg('id', () => ID, { nullable: true, description: 'The organization; absent for that of your token.' })
    id?: string,
  ): Promise<OrganizationType> {
    return this.service.get(ctx, { id });
  }

  @Query(() => OrganizationConnection, {
    description: 'Your root organization first, then the sub-organizations that your token can see, by name.',
  })
  organizations(@Ctx() ctx: Context, @Args(() => PageArgs) page: PageArgs): Promise<ConnectionOf<OrganizationType>> {
    return this.service.list(ctx, page);
  }

  @Extensions(MINT)
  @Mutation(() => CreateOrganizationPayload, {
    description: 'Makes a root organization with its first admin. Only the admin of the installation may.',
  })
  createOrganization(
    @Ctx() ctx: Context,
    @Arg('input', () => CreateOrganizationInput, { description: 'The new organization.' })
    input: CreateOrganizationInput,
  ): Promise<CreateOrganizationPayload> {
    return this.service.create(ctx, input);
  }

  @Mutation(() => CreateSubOrganizationPayload, {
    description: 'Makes a sub-organization of your root organization. You become an admin of it.',
  })
  async createSubOrganization(
    @Ctx() ctx: Context,
    @Arg('input', () => CreateSubOrganizationInput, { description: 'The new sub-organization.' })
    input: CreateSubOrganizationInput,
  ): Promise<CreateSubOrganizationPayload> {
    return { organization: await this.service.createSub(ctx, input) };
  }

  @mutation(
    UpdateOrganization,
    { organization: [OrganizationType, 'The organization as it is now.'] },
    'Changes the name or the slug of an organization, or at which domains people get its mails.',
  )
  async updateOrganization(ctx: Context, input: object): Promise<{ organization: OrganizationType }> {
    return { organization: await this.service.update(ctx, input) };
  }

  @Mutation(() => DeleteOrganizationPayload, {
    description: 'Deletes an organization without projects and sub-organizations, and everybody in it.',
  })
  async deleteOrganization(
    @Ctx() ctx: Context,
    @Arg('input', () => DeleteOrganizationInput, { description: 'Which one.' }) input: DeleteOrganizationInput,
  ): Promise<DeleteOrganizationPayload> {
    return { organization: await this.service.delete(ctx, input) };
  }
}
