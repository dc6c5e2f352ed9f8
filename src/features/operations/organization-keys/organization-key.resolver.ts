import { Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { mutation, query } from '../../../kernel/graphql/operations.js';
import { type CountedConnectionOf, counted } from '../../../kernel/paging.js';
import {
  CreateOrganizationKey,
  ListOrganizationKeys,
  OneOrganizationKey,
  SetProjectKey,
} from './organization-key.rules.js';
import type { OrganizationKeyService } from './organization-key.service.js';
import { OrganizationKeyConnection, OrganizationKeyType } from './organization-key.type.js';

@Resolver(() => OrganizationKeyType)
export class OrganizationKeyResolver {
  constructor(private readonly service: OrganizationKeyService) {}

  @query(OrganizationKeyConnection, ListOrganizationKeys, 'Lists the keys of your organization, by name.')
  async organizationKeys(ctx: Context, args: object): Promise<CountedConnectionOf<OrganizationKeyType>> {
    const { page, totalCount } = await this.service.list(ctx, args);
    return counted(page, totalCount);
  }

  @query(OrganizationKeyType, OneOrganizationKey, 'Returns a key of your organization by its ID.')
  organizationKey(ctx: Context, args: object): Promise<OrganizationKeyType> {
    return this.service.get(ctx, args);
  }

  @mutation(
    CreateOrganizationKey,
    { organizationKey: [OrganizationKeyType, 'The created key.'] },
    'Creates a key in your organization. New projects can name it, and existing ones change to it.',
  )
  async createOrganizationKey(ctx: Context, input: object): Promise<{ organizationKey: OrganizationKeyType }> {
    return { organizationKey: await this.service.create(ctx, input) };
  }

  @mutation(
    OneOrganizationKey,
    { organizationKey: [OrganizationKeyType, 'The rotated key.'] },
    'Makes a new version of a key and encrypts the keys of all its projects with it. Values of secrets are not touched.',
  )
  async rotateOrganizationKey(ctx: Context, input: object): Promise<{ organizationKey: OrganizationKeyType }> {
    return { organizationKey: await this.service.rotate(ctx, input) };
  }

  @mutation(
    OneOrganizationKey,
    { organizationKey: [OrganizationKeyType, 'The disabled key.'] },
    'Disables a key. Values of its projects can be neither read nor written, on any node, until it is enabled: the error is KEY_DISABLED.',
  )
  async disableOrganizationKey(ctx: Context, input: object): Promise<{ organizationKey: OrganizationKeyType }> {
    return { organizationKey: await this.service.disable(ctx, input) };
  }

  @mutation(
    OneOrganizationKey,
    { organizationKey: [OrganizationKeyType, 'The enabled key.'] },
    'Enables a key. Values of its projects can be read and written again.',
  )
  async enableOrganizationKey(ctx: Context, input: object): Promise<{ organizationKey: OrganizationKeyType }> {
    return { organizationKey: await this.service.enable(ctx, input) };
  }

  @mutation(
    SetProjectKey,
    { organizationKey: [OrganizationKeyType, 'The key of the project from now on.'] },
    'Changes the organization key of a project. Values of its secrets are not touched. You need permission to edit keys of the organization and the project.',
  )
  async setProjectKey(ctx: Context, input: object): Promise<{ organizationKey: OrganizationKeyType }> {
    return { organizationKey: await this.service.setForProject(ctx, input) };
  }
}
