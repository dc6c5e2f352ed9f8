import { Resolver } from 'type-graphql';
import type { Context } from '../../kernel/context.js';
import { mutation, query } from '../../kernel/graphql/operations.js';
import type { CountedConnectionOf } from '../../kernel/paging.js';
import { withPermissions } from '../permissions/public.js';
import {
  CreateOrganizationRole,
  ListOrganizationRoles,
  OneOrganizationRole,
  OrganizationRoleBySlug,
  UpdateOrganizationRole,
} from './organization-role.rules.js';
import type { OrganizationRoleService } from './organization-role.service.js';
import { OrganizationRoleConnection, OrganizationRoleType } from './organization-role.type.js';

@Resolver(() => OrganizationRoleType)
export class OrganizationRoleResolver {
  constructor(private readonly service: OrganizationRoleService) {}

  @query(
    OrganizationRoleConnection,
    ListOrganizationRoles,
    'The roles of your organization: those that it made, by slug, then the built-in ones, admin first.',
  )
  organizationRoles(ctx: Context, args: object): Promise<CountedConnectionOf<OrganizationRoleType>> {
    return this.service.list(ctx, args);
  }

  @query(OrganizationRoleType, OneOrganizationRole, 'One role of your organization by its id, a built-in one too.')
  organizationRole(ctx: Context, args: object): Promise<OrganizationRoleType> {
    return this.service.get(ctx, args);
  }

  @query(OrganizationRoleType, OrganizationRoleBySlug, 'One role of your organization by its slug, a built-in one too.')
  organizationRoleBySlug(ctx: Context, args: object): Promise<OrganizationRoleType> {
    return this.service.getBySlug(ctx, args);
  }

  @mutation(
    CreateOrganizationRole,
    { role: [OrganizationRoleType, 'The new role.'] },
    'Makes a role of your organization. It cannot allow more than your own rights do.',
  )
  async createOrganizationRole(ctx: Context, input: object): Promise<{ role: OrganizationRoleType }> {
    return { role: await this.service.create(ctx, withPermissions(input)) };
  }

  @mutation(
    UpdateOrganizationRole,
    { role: [OrganizationRoleType, 'The role as it is now.'] },
    'Changes a role of your organization, for all who have it, from their next request. It cannot allow more than your own rights do, before or after.',
  )
  async updateOrganizationRole(ctx: Context, input: object): Promise<{ role: OrganizationRoleType }> {
    return { role: await this.service.update(ctx, withPermissions(input)) };
  }

  @mutation(
    OneOrganizationRole,
    { role: [OrganizationRoleType, 'The deleted role.'] },
    'Deletes a role of your organization that nobody has.',
  )
  async deleteOrganizationRole(ctx: Context, input: object): Promise<{ role: OrganizationRoleType }> {
    return { role: await this.service.delete(ctx, input) };
  }
}
