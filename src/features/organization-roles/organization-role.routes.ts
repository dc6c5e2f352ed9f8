import { bodyOf, type Data, nextCursor, routesAt } from '../../rest/route.js';
import { PERMISSION, type PermissionsGiven, toPermissionInputs, toPermissionReply } from '../permissions/public.js';
import { CreateOrganizationRole, UpdateOrganizationRole } from './organization-role.rules.js';

const roles = routesAt('/api/v1/organization/roles', {
  select: `id name slug description permissions { ${PERMISSION} } version organizationId createdAt updatedAt`,
});

const toRole = ({ permissions, ...role }: Data): Data => ({ ...role, permissions: permissions.map(toPermissionReply) });

/** Actions in a list and conditions by field, as the schema has them. */
const toInput = ({ permissions, ...rest }: { readonly permissions?: unknown }): object => ({
  ...rest,
  ...(permissions === undefined ? {} : { permissions: toPermissionInputs(permissions as PermissionsGiven) }),
});

/** Roles of the organization of the token. */
export const organizationRoleRoutes = [
  roles.post('', 'Create a role of the organization', {
    field: 'createOrganizationRole',
    body: CreateOrganizationRole,
    exactKeys: ['permissions'],
    variables: ({ body }) => ({ input: toInput(body) }),
    reply: ({ createOrganizationRole }) => ({ role: toRole(createOrganizationRole.role) }),
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
    reply: ({ organizationRoles: { nodes, pageInfo } }) => ({ roles: nodes.map(toRole), ...nextCursor(pageInfo) }),
  }),
  roles.get('/{roleId}', 'Get a role of the organization', {
    field: 'organizationRole',
    reply: ({ organizationRole }) => ({ role: toRole(organizationRole) }),
    errors: ['ROLE_NOT_FOUND'],
  }),
  roles.get('/slug/{slug}', 'Get a role of the organization by its slug', {
    field: 'organizationRoleBySlug',
    reply: ({ organizationRoleBySlug }) => ({ role: toRole(organizationRoleBySlug) }),
    errors: ['ROLE_NOT_FOUND'],
  }),
  roles.patch('/{roleId}', 'Update a role of the organization', {
    field: 'updateOrganizationRole',
    body: bodyOf(UpdateOrganizationRole, 'id'),
    exactKeys: ['permissions'],
    variables: ({ params, body }) => ({ input: { id: params.roleId, ...toInput(body) } }),
    reply: ({ updateOrganizationRole }) => ({ role: toRole(updateOrganizationRole.role) }),
    example: { permissions: [{ subject: 'identity', action: 'read' }] },
    errors: ['ROLE_NOT_FOUND', 'ROLE_SLUG_TAKEN', 'ROLE_BUILT_IN', 'LAST_ADMIN'],
  }),
  roles.delete('/{roleId}', 'Delete a role of the organization', {
    field: 'deleteOrganizationRole',
    reply: ({ deleteOrganizationRole }) => ({ role: toRole(deleteOrganizationRole.role) }),
    errors: ['ROLE_NOT_FOUND', 'ROLE_IN_USE', 'ROLE_BUILT_IN'],
  }),
];
