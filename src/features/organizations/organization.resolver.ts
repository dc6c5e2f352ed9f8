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
    description: 'Returns an organization that your token can see. Default: the organization of your token.',
  })
  organization(
    @Ctx() ctx: Context,
    @Arg('id', () => ID, {
      nullable: true,
      description: 'ID of the organization. Default: the organization of your token.',
    })
    id?: string,
  ): Promise<OrganizationType> {
    return this.service.get(ctx, { id });
  }

  @Query(() => OrganizationConnection, {
    description: 'Lists your root organization, then the sub-organizations that your token can see, by name.',
  })
  organizations(@Ctx() ctx: Context, @Args(() => PageArgs) page: PageArgs): Promise<ConnectionOf<OrganizationType>> {
    return this.service.list(ctx, page);
  }

  @Extensions(MINT)
  @Mutation(() => CreateOrganizationPayload, {
    description: 'Creates a root organization and its first admin. Only the admin of the installation can do this.',
  })
  createOrganization(
    @Ctx() ctx: Context,
    @Arg('input', () => CreateOrganizationInput, { description: 'Fields of the new organization.' })
    input: CreateOrganizationInput,
  ): Promise<CreateOrganizationPayload> {
    return this.service.create(ctx, input);
  }

  @Mutation(() => CreateSubOrganizationPayload, {
    description: 'Creates a sub-organization of your root organization. You become its admin.',
  })
  async createSubOrganization(
    @Ctx() ctx: Context,
    @Arg('input', () => CreateSubOrganizationInput, { description: 'Fields of the new sub-organization.' })
    input: CreateSubOrganizationInput,
  ): Promise<CreateSubOrganizationPayload> {
    return { organization: await this.service.createSub(ctx, input) };
  }

  @mutation(
    UpdateOrganization,
    { organization: [OrganizationType, 'The updated organization.'] },
    'Changes the name or the slug of an organization, or the domains that it may send email to.',
  )
  async updateOrganization(ctx: Context, input: object): Promise<{ organization: OrganizationType }> {
    return { organization: await this.service.update(ctx, input) };
  }

  @Mutation(() => DeleteOrganizationPayload, {
    description:
      'Deletes an organization with all its members and tokens. It must not have projects or sub-organizations.',
  })
  async deleteOrganization(
    @Ctx() ctx: Context,
    @Arg('input', () => DeleteOrganizationInput, { description: 'The organization to delete, by ID.' })
    input: DeleteOrganizationInput,
  ): Promise<DeleteOrganizationPayload> {
    return { organization: await this.service.delete(ctx, input) };
  }
}
