import { CANARY } from '../../world.js';
import { type GraphQLOperation, powerless, viewer } from '../operation.js';

const role = { projectId: '$project', id: '$role' };

/** Roles of projects. */
export const roles: readonly GraphQLOperation[] = [
  {
    field: 'projectRoles',
    args: { projectId: '$project' },
    audit: 'project-role:list',
    denial: powerless('role:read'),
  },
  {
    field: 'projectRole',
    args: role,
    audit: 'project-role:get',
    denial: powerless('role:read'),
  },
  {
    field: 'projectRoleBySlug',
    args: { projectId: '$project', slug: '$roleSlug' },
    audit: 'project-role:get',
    denial: powerless('role:read'),
  },
  {
    field: 'createProjectRole',
    args: {
      projectId: '$project',
      slug: 'reader',
      name: 'Reader',
      description: CANARY,
      permissions: [{ subject: 'SECRETS', action: ['READ_VALUE'], conditions: { environment: { is: 'dev' } } }],
    },
    audit: 'project-role:create',
    denial: viewer('role:create'),
  },
  {
    field: 'updateProjectRole',
    args: { ...role, name: 'Writer' },
    audit: 'project-role:update',
    denial: viewer('role:edit'),
  },
  { field: 'deleteProjectRole', args: role, audit: 'project-role:delete', denial: viewer('role:delete') },
];
