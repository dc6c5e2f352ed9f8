import { CANARY } from '../../world.js';
import { powerless, type RestOperation, viewer } from '../operation.js';

const ROLES = '/api/v1/projects/{projectId}/roles';
const role = { projectId: '$project', roleId: '$role' };

/** Roles of projects. */
export const roles: readonly RestOperation[] = [
  {
    route: `POST ${ROLES}`,
    path: { projectId: '$project' },
    body: {
      slug: 'reader',
      name: 'Reader',
      description: CANARY,
      permissions: [{ subject: 'secrets', action: 'readValue', conditions: { secretPath: '/app' } }],
    },
    audit: 'project-role:create',
    denial: viewer('role:create'),
  },
  {
    route: `GET ${ROLES}`,
    path: { projectId: '$project' },
    audit: 'project-role:list',
    denial: powerless('role:read'),
  },
  { route: `GET ${ROLES}/{roleId}`, path: role, audit: 'project-role:get', denial: powerless('role:read') },
  {
    route: `GET ${ROLES}/slug/{slug}`,
    path: { projectId: '$project', slug: '$roleSlug' },
    audit: 'project-role:get',
    denial: powerless('role:read'),
  },
  {
    route: `PATCH ${ROLES}/{roleId}`,
    path: role,
    body: { slug: 'writer', permissions: [] },
    audit: 'project-role:update',
    denial: viewer('role:edit'),
  },
  { route: `DELETE ${ROLES}/{roleId}`, path: role, audit: 'project-role:delete', denial: viewer('role:delete') },
];
