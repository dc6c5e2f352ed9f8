import { Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { mutation, query } from '../../../kernel/graphql/operations.js';
import type { CountedConnectionOf } from '../../../kernel/paging.js';
import { withPermissions } from '../../identity/permissions/public.js';
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
    'Lists the roles of your organization: custom roles by slug, then built-in roles, admin first.',
  )
  organizationRoles(ctx: Context, args: object): Promise<CountedConnectionOf<OrganizationRoleType>> {
    return this.service.list(ctx, args);
  }

  @query(OrganizationRoleType, OneOrganizationRole, 'Returns a custom or built-in role of your organization by its ID.')
  organizationRole(ctx: Context, args: object): Promise<OrganizationRoleType> {
    return this.service.get(ctx, args);
  }

  @query(
    OrganizationRoleType,
    OrganizationRoleBySlug,
    'Returns a custom or built-in role of your organization by its slug.',
  )
  organizationRoleBySlug(ctx: Context, args: object): Promise<OrganizationRoleType> {
    return this.service.getBySlug(ctx, args);
  }

  @mutation(
    CreateOrganizationRole,
    { role: [OrganizationRoleType, 'The created role.'] },
    'Creates a custom role in your organization. It cannot grant permissions that you do not have.',
  )
  async createOrganizationRole(ctx: Context, input: object): Promise<{ role: OrganizationRoleType }> {
    return { role: await this.service.create(ctx, withPermissions(input)) };
  }

  @mutation(
    UpdateOrganizationRole,
    { role: [OrganizationRoleType, 'The updated role.'] },
    'Changes a custom role of your organization. The change applies to all its members from their next request. Neither the old nor the new role can grant permissions that you do not have.',
  )
  async updateOrganizationRole(ctx: Context, input: object): Promise<{ role: OrganizationRoleType }> {
    return { role: await this.service.update(ctx, withPermissions(input)) };
  }

  @mutation(
    OneOrganizationRole,
    { role: [OrganizationRoleType, 'The deleted role.'] },
    'Deletes a custom role of your organization that is not in use.',
  )
  async deleteOrganizationRole(ctx: Context, input: object): Promise<{ role: OrganizationRoleType }> {
    return { role: await this.service.delete(ctx, input) };
  }
}
