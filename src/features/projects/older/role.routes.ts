import { route } from '../../../rest/route.js';
import { LISTED_PERMISSIONS, withReplyPermissions } from '../../identity/permissions/public.js';
import { ROLE_FIELDS, roleRoutesAt } from '../roles/role.routes.js';
import { projectBySlug } from './project-by-slug.js';

/** Roles of projects at the paths of before. Replies of version 2 have the actions of each permission in a list, as they were given. */
export const olderRoleRoutes = [
  ...roleRoutesAt('/api/v2/workspace/{projectId}/roles', {
    isOlder: true,
    permissions: LISTED_PERMISSIONS,
    harmless: { ProjectId: 'projectId' },
  }),
  ...roleRoutesAt('/api/v1/workspace/{projectSlug}/roles', { isOlder: true, ...projectBySlug('projectSlug') }),
  route({
    extension: true,
    deprecated: true,
    method: 'GET',
    path: '/api/v1/projects/roles/{roleId}',
    summary: 'Get a role by its ID alone (older path)',
    document: `query ($id: ID!) { projectRole(id: $id) { ${ROLE_FIELDS} ${LISTED_PERMISSIONS} } }`,
    variables: ({ params }) => ({ id: params.roleId }),
    reply: ({ projectRole }) => ({ role: withReplyPermissions(projectRole) }),
    errors: ['ROLE_NOT_FOUND'],
  }),
];
