import { bodyOf, routesAt } from '../../../rest/route.js';
import { permissionsIn, withReplyPermissions } from '../../identity/permissions/public.js';
import { CreateRole, UpdateRole } from './role.rules.js';

/** One action in each permission. */
const ROLE = 'id name slug createdAt updatedAt projectId description version permissions';
/** The actions of each permission in a list, as they were given. */
export const LISTED_ROLE = `${ROLE}: rules`;

/** A role in replies. */
export const SHOWN = { as: ['role', 'roles'], show: withReplyPermissions } as const;

const roles = routesAt('/api/v1/projects/{projectId}/roles', {
  ...SHOWN,
  select: ROLE,
  errors: ['PROJECT_NOT_FOUND'],
});

/** Roles of a project. */
export const roleRoutes = [
  roles.get('', 'List roles', { field: 'projectRoles', cached: true }),
  roles.get('/{roleId}', 'Get a role', { field: 'projectRole', cached: true, errors: ['ROLE_NOT_FOUND'] }),
  roles.get('/slug/{slug}', 'Get a role by its slug', {
    field: 'projectRoleBySlug',
    cached: true,
    errors: ['ROLE_NOT_FOUND'],
  }),
  roles.post('', 'Create a role', {
    field: 'createProjectRole',
    body: bodyOf(CreateRole, 'projectId'),
    input: ({ permissions, ...rest }) => ({ ...rest, ...permissionsIn(permissions) }),
    example: {
      slug: 'staging-reader',
      name: 'Staging reader',
      permissions: [
        { subject: 'secrets', action: ['describeSecret', 'readValue'], conditions: { environment: 'staging' } },
        {
          subject: 'secrets',
          action: 'readValue',
          inverted: true,
          conditions: { secretPath: { $glob: '/payments/**' }, secretTags: { $in: ['restricted'] } },
        },
      ],
    },
    errors: ['ROLE_SLUG_TAKEN'],
  }),
  roles.patch('/{roleId}', 'Update a role', {
    field: 'updateProjectRole',
    body: bodyOf(UpdateRole, 'projectId', 'id'),
    input: ({ permissions, ...rest }) => ({ ...rest, ...permissionsIn(permissions) }),
    example: { permissions: [{ subject: 'secrets', action: 'describeSecret' }] },
    errors: ['ROLE_NOT_FOUND', 'ROLE_SLUG_TAKEN', 'ROLE_BUILT_IN'],
  }),
  roles.delete('/{roleId}', 'Delete a role', {
    field: 'deleteProjectRole',
    errors: ['ROLE_NOT_FOUND', 'ROLE_IN_USE', 'ROLE_BUILT_IN'],
  }),
];
