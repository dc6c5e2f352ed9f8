import { bodyOf, nextCursor, routesAt } from '../../../rest/route.js';
import {
  PERMISSIONS,
  type PermissionsGiven,
  permissionsIn,
  withReplyPermissions,
} from '../../identity/permissions/public.js';
import { CreateOrganizationRole, UpdateOrganizationRole } from './organization-role.rules.js';

const roles = routesAt('/api/v1/organization/roles', {
  select: `id name slug description ${PERMISSIONS} version organizationId createdAt updatedAt`,
});

/** Actions in a list and conditions by field, as the schema has them. */
const toInput = ({ permissions, ...rest }: { readonly permissions?: unknown }): object => ({
  ...rest,
  ...permissionsIn(permissions as PermissionsGiven | undefined),
});

/** Roles of the organization of the token. */
export const organizationRoleRoutes = [
  roles.post('', 'Create a role of the organization', {
    field: 'createOrganizationRole',
    body: CreateOrganizationRole,
    variables: ({ body }) => ({ input: toInput(body) }),
    reply: ({ createOrganizationRole }) => ({ role: withReplyPermissions(createOrganizationRole.role) }),
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
    reply: ({ organizationRoles: { nodes, pageInfo } }) => ({
      roles: nodes.map(withReplyPermissions),
      ...nextCursor(pageInfo),
    }),
  }),
  roles.get('/{roleId}', 'Get a role of the organization', {
    field: 'organizationRole',
    reply: ({ organizationRole }) => ({ role: withReplyPermissions(organizationRole) }),
    errors: ['ROLE_NOT_FOUND'],
  }),
  roles.get('/slug/{slug}', 'Get a role of the organization by its slug', {
    field: 'organizationRoleBySlug',
    reply: ({ organizationRoleBySlug }) => ({ role: withReplyPermissions(organizationRoleBySlug) }),
    errors: ['ROLE_NOT_FOUND'],
  }),
  roles.patch('/{roleId}', 'Update a role of the organization', {
    field: 'updateOrganizationRole',
    body: bodyOf(UpdateOrganizationRole, 'id'),
    harmless: { RoleId: 'roleId' },
    variables: ({ params, body }) => ({ input: { id: params.roleId, ...toInput(body) } }),
    reply: ({ updateOrganizationRole }) => ({ role: withReplyPermissions(updateOrganizationRole.role) }),
    example: { permissions: [{ subject: 'identity', action: 'read' }] },
    errors: ['ROLE_NOT_FOUND', 'ROLE_SLUG_TAKEN', 'ROLE_BUILT_IN', 'LAST_ADMIN'],
  }),
  roles.delete('/{roleId}', 'Delete a role of the organization', {
    field: 'deleteOrganizationRole',
    reply: ({ deleteOrganizationRole }) => ({ role: withReplyPermissions(deleteOrganizationRole.role) }),
    errors: ['ROLE_NOT_FOUND', 'ROLE_IN_USE', 'ROLE_BUILT_IN'],
  }),
];
