import { CANARY } from '../../world.js';
import { powerless, type RestOperation, viewer } from '../operation.js';

const ROLES = '/api/v1/organization/roles';
const role = { roleId: '$organizationRole' };

/** Roles of organizations. */
export const organizationRoles: readonly RestOperation[] = [
  {
    route: `POST ${ROLES}`,
    body: {
      slug: 'user-reader',
      name: 'User reader',
      description: CANARY,
      permissions: [{ subject: 'member', action: 'assign-role', conditions: { role: 'no-access' } }],
    },
    audit: 'organization-role:create',
    denial: viewer('role:create'),
  },
  { route: `GET ${ROLES}`, audit: 'organization-role:list', denial: powerless('role:read') },
  { route: `GET ${ROLES}/{roleId}`, path: role, audit: 'organization-role:get', denial: powerless('role:read') },
  {
    route: `GET ${ROLES}/slug/{slug}`,
    path: { slug: '$organizationRoleSlug' },
    audit: 'organization-role:get',
    denial: powerless('role:read'),
  },
  {
    route: `PATCH ${ROLES}/{roleId}`,
    path: role,
    body: { slug: 'writer', permissions: [] },
    audit: 'organization-role:update',
    denial: viewer('role:edit'),
  },
  { route: `DELETE ${ROLES}/{roleId}`, path: role, audit: 'organization-role:delete', denial: viewer('role:delete') },
];
