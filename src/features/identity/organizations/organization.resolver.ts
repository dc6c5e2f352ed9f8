import { Extensions, Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { MINT } from '../../../kernel/graphql/limited-operations.js';
import { mutation, query } from '../../../kernel/graphql/operations.js';
import type { ConnectionOf } from '../../../kernel/paging.js';
import {
  CreateOrganization,
  CreateSubOrganization,
  DeleteOrganization,
  GetOrganization,
  ListOrganizations,
  UpdateOrganization,
} from './organization.rules.js';
import type { OrganizationService } from './organization.service.js';
import { CreateOrganizationPayload, OrganizationConnection, OrganizationType } from './organization.type.js';

@Resolver(() => OrganizationType)
export class OrganizationResolver {
  constructor(private readonly service: OrganizationService) {}

  @query(
    OrganizationType,
    GetOrganization,
    'Returns an organization that your token can see. Default: the organization of your token.',
  )
  organization(ctx: Context, args: object): Promise<OrganizationType> {
    return this.service.get(ctx, args);
  }

  @query(
    OrganizationConnection,
    ListOrganizations,
    'Lists your root organization, then the sub-organizations that your token can see, by name.',
  )
  organizations(ctx: Context, args: object): Promise<ConnectionOf<OrganizationType>> {
    return this.service.list(ctx, args);
  }

  @Extensions(MINT)
  @mutation(
    CreateOrganization,
    CreateOrganizationPayload,
    'Creates a root organization and its first admin. Only the admin of the installation can do this.',
  )
  createOrganization(ctx: Context, input: object): Promise<CreateOrganizationPayload> {
    return this.service.create(ctx, input);
  }

  @mutation(
    CreateSubOrganization,
    { organization: [OrganizationType, 'The created sub-organization.'] },
    'Creates a sub-organization of your root organization. You become its admin.',
  )
  async createSubOrganization(ctx: Context, input: object): Promise<{ organization: OrganizationType }> {
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

  @mutation(
    DeleteOrganization,
    { organization: [OrganizationType, 'The deleted organization.'] },
    'Deletes an organization with all its members and tokens. It must not have projects or sub-organizations.',
  )
  async deleteOrganization(ctx: Context, input: object): Promise<{ organization: OrganizationType }> {
    return { organization: await this.service.delete(ctx, input) };
  }
}
