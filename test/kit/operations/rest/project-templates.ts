import { CANARY } from '../../world.js';
import { powerless, type RestOperation, viewer } from '../operation.js';

const TEMPLATES = '/api/v1/project-templates';
const path = { templateId: '$projectTemplate' };

/** Project templates. */
export const projectTemplates: readonly RestOperation[] = [
  { route: `GET ${TEMPLATES}`, audit: 'project-template:list', denial: powerless('project-templates:read') },
  {
    route: `POST ${TEMPLATES}`,
    body: {
      name: 'web-service',
      description: CANARY,
      type: 'secret-manager',
      roles: [{ name: 'Reader', slug: 'reader', permissions: [{ subject: 'secrets', action: 'describeSecret' }] }],
      environments: [],
      identities: [{ identityId: '$otherIdentity', roles: ['reader'] }],
    },
    audit: 'project-template:create',
    denial: viewer('project-templates:create'),
  },
  {
    route: `GET ${TEMPLATES}/{templateId}`,
    path,
    audit: 'project-template:get',
    denial: powerless('project-templates:read'),
  },
  {
    route: `PATCH ${TEMPLATES}/{templateId}`,
    path,
    body: { users: [{ username: '$otherUsername', roles: ['viewer'] }], identities: null },
    audit: 'project-template:update',
    denial: viewer('project-templates:edit'),
  },
  {
    route: `DELETE ${TEMPLATES}/{templateId}`,
    path,
    audit: 'project-template:delete',
    denial: viewer('project-templates:delete'),
  },
];
