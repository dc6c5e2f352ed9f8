import { type ClassType, ID, Int, Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { creation } from '../../../kernel/graphql/creation.js';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { Node } from '../../../kernel/graphql/node.js';
import { objectType } from '../../../kernel/graphql/object-types.js';
import { mutation, query } from '../../../kernel/graphql/operations.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import { relations, relationTo } from '../../../kernel/graphql/relations.js';
import type { CountedConnectionOf } from '../../../kernel/paging.js';
import { bodyOf, routesAt } from '../../../rest/route.js';
import { IdentityType } from '../../identity/identities/public.js';
import { MemberType, organizationRelationOf, UserType } from '../../identity/organizations/public.js';
import {
  OrganizationPermissionType,
  type PermissionsInput,
  permissionsIn,
  permissionsText,
  shownRulesText,
  withPermissions,
  withReplyPermissions,
} from '../../identity/permissions/public.js';
import { GroupOrganizationMembershipType, GroupType } from '../groups/public.js';
import {
  CreateOrganizationRole,
  ListOrganizationRoles,
  OneOrganizationRole,
  OrganizationRoleBySlug,
  UpdateOrganizationRole,
} from './organization-role.rules.js';
import {
  type OrganizationRoleService,
  type RoleKey,
  roleRelationKey,
  rolesByKeys,
} from './organization-role.service.js';

/** What the API shows of a role. */
const OrganizationRoleType = objectType(
  'OrganizationRole',
  'A role of users, machine identities and groups in an organization. Projects have separate roles.',
  {
    organizationId: [ID, 'ID of the organization.'],
    slug: [String, 'Slug of the role, unique in the organization, for example `admin`.'],
    name: [String, 'Display name of the role.'],
    description: [String, 'Description of the role.'],
    permissions: [[OrganizationPermissionType], 'Permission rules of the role. A later rule overrides an earlier one.'],
    version: [Int, 'Version of the role. Increments with every change; 1 for built-in roles.'],
    createdAt: [DateTime, 'When the role was created; for a built-in role, when the organization was created.'],
    updatedAt: [
      DateTime,
      'When the role was last changed; for a built-in role, when the organization was last changed.',
    ],
  },
  { implements: Node },
);
type OrganizationRoleType = InstanceType<typeof OrganizationRoleType>;

const OrganizationRoleConnection = connectionOf(
  OrganizationRoleType,
  'OrganizationRole',
  'custom roles by slug, then built-in roles, admin first',
);

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

  @creation(
    CreateOrganizationRole,
    { role: [OrganizationRoleType, 'The created role.'] },
    'Creates a custom role in your organization. It cannot grant permissions that you do not have.',
    {
      find: (roles: OrganizationRoleResolver, ctx, { slug }) => roles.organizationRoleBySlug(ctx, { slug }),
      taken: 'ROLE_SLUG_TAKEN',
      toRules: withPermissions,
      compare: { permissions: { of: ({ permissions }) => shownRulesText(permissions), as: permissionsText } },
    },
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

const ROLE = 'The role. Null if you do not have permission to read it.';

/** Resolvers of what roles of organizations lead to, and of what leads to them. */
export const organizationRoleRelations = (): object[] => [
  ...[UserType, IdentityType, MemberType, GroupOrganizationMembershipType].map((type: ClassType<RoleKey>) =>
    relations(type, { role: relationTo(OrganizationRoleType, ROLE, rolesByKeys, roleRelationKey) }),
  ),
  relations(GroupType, {
    // That of the organization of the caller, which need not own the group.
    role: relationTo(OrganizationRoleType, ROLE, rolesByKeys, ({ roleSlug }, { organizationId }) =>
      roleRelationKey({ organizationId, roleSlug }),
    ),
  }),
  organizationRelationOf(OrganizationRoleType),
];

const roles = routesAt('/api/v1/organization/roles', {
  select: 'id name slug description permissions version *',
  as: ['role', 'roles'],
  show: withReplyPermissions,
});

/** Actions in a list and conditions by field, as the schema has them. */
const toInput = ({ permissions, ...rest }: { readonly permissions?: unknown }): object => ({
  ...rest,
  ...permissionsIn(permissions as PermissionsInput | undefined),
});

/** Roles of the organization of the token. */
export const organizationRoleRoutes = [
  roles.post('', 'Create a role of the organization', {
    field: 'createOrganizationRole',
    body: CreateOrganizationRole,
    input: toInput,
    example: {
      slug: 'identity-manager',
      name: 'Identity manager',
      permissions: [
        { subject: 'identity', action: ['read', 'create'] },
        { subject: 'identity', action: 'assign-role', conditions: { role: { $in: ['member'] } } },
      ],
    },
    errors: ['ROLE_SLUG_TAKEN'],
  }),
  roles.get('', 'List the roles of the organization', {
    field: 'organizationRoles',
  }),
  roles.get('/{roleId}', 'Get a role of the organization', {
    field: 'organizationRole',
    errors: ['ROLE_NOT_FOUND'],
  }),
  roles.get('/slug/{slug}', 'Get a role of the organization by its slug', {
    field: 'organizationRoleBySlug',
    errors: ['ROLE_NOT_FOUND'],
  }),
  roles.patch('/{roleId}', 'Update a role of the organization', {
    field: 'updateOrganizationRole',
    body: bodyOf(UpdateOrganizationRole, 'id'),
    harmless: { RoleId: 'roleId' },
    input: toInput,
    example: { permissions: [{ subject: 'identity', action: 'read' }] },
    errors: ['ROLE_NOT_FOUND', 'ROLE_SLUG_TAKEN', 'ROLE_BUILT_IN', 'LAST_ADMIN'],
  }),
  roles.delete('/{roleId}', 'Delete a role of the organization', {
    field: 'deleteOrganizationRole',
    errors: ['ROLE_NOT_FOUND', 'ROLE_IN_USE', 'ROLE_BUILT_IN'],
  }),
];
