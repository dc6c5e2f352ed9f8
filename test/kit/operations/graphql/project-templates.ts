import { CANARY } from '../../world.js';
import { type GraphQLOperation, powerless, viewer } from '../operation.js';

/** Project templates. */
export const projectTemplates: readonly GraphQLOperation[] = [
  { field: 'projectTemplates', audit: 'project-template:list', denial: powerless('project-templates:read') },
  {
    field: 'projectTemplate',
    args: { id: '$projectTemplate' },
    audit: 'project-template:get',
    denial: powerless('project-templates:read'),
  },
  {
    field: 'previewProjectTemplate',
    args: { id: '$projectTemplate' },
    audit: 'project-template:preview',
    denial: powerless('project-templates:read'),
  },
  {
    field: 'projectTemplateDrift',
    args: { projectId: '$project' },
    audit: 'project-template:drift',
    denial: powerless('project-templates:read'),
  },
  {
    field: 'applyProjectTemplate',
    args: { projectId: '$project', parts: ['ENVIRONMENTS', 'ROLES', 'MEMBERS'], removes: true },
    audit: 'project-template:apply',
    denial: viewer('environments:create'),
  },
  {
    field: 'createProjectTemplate',
    args: {
      name: 'web-service',
      description: CANARY,
      type: 'SECRET_MANAGER',
      roles: [{ name: 'Reader', slug: 'reader', permissions: [{ subject: 'SECRETS', action: ['DESCRIBE_SECRET'] }] }],
      environments: [{ name: 'Production', slug: 'prod', position: 1 }],
      identities: [{ identityId: '$otherIdentity', roles: ['reader'] }],
      projectManagedIdentities: [{ name: 'deployer', roles: ['reader'] }],
    },
    audit: 'project-template:create',
    denial: viewer('project-templates:create'),
  },
  {
    field: 'updateProjectTemplate',
    args: {
      id: '$projectTemplate',
      description: CANARY,
      users: [{ username: '$otherUsername', roles: ['viewer'] }],
      identities: [{ identityId: '$otherIdentity', roles: ['reader'] }],
    },
    audit: 'project-template:update',
    denial: viewer('project-templates:edit'),
  },
  {
    field: 'deleteProjectTemplate',
    args: { id: '$projectTemplate' },
    audit: 'project-template:delete',
    denial: viewer('project-templates:delete'),
  },
];
