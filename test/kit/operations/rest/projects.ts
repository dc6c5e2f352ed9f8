import { CANARY } from '../../world.js';
import { powerless, type RestOperation, viewer } from '../operation.js';

const PROJECT = '/api/v1/projects/{projectId}';
const newProject = { projectName: 'Web shop', projectDescription: CANARY };

/** Projects and environments. */
export const projects: readonly RestOperation[] = [
  { route: 'POST /api/v2/workspace', body: newProject, audit: 'project:create', denial: powerless('workspace:create') },
  { route: 'POST /api/v1/projects', body: newProject, audit: 'project:create', denial: powerless('workspace:create') },
  {
    route: 'GET /api/v1/workspace/{workspaceId}',
    path: { workspaceId: '$project' },
    audit: 'project:get',
    denial: null,
  },
  {
    route: 'GET /api/v1/projects',
    query: { includeRoles: 'true' },
    audit: 'project:list',
    denial: powerless('member:create'),
  },
  { route: `GET ${PROJECT}`, path: { projectId: '$project' }, audit: 'project:get', denial: null },
  { route: 'GET /api/v1/projects/slug/{slug}', path: { slug: '$projectSlug' }, audit: 'project:get', denial: null },
  {
    route: `PATCH ${PROJECT}`,
    path: { projectId: '$project' },
    body: { description: CANARY, secretDetectionIgnoreValues: [CANARY] },
    audit: 'project:update',
    denial: viewer('settings:edit'),
  },
  {
    route: `DELETE ${PROJECT}`,
    path: { projectId: '$project' },
    audit: 'project:delete',
    denial: viewer('workspace:delete'),
  },
  {
    route: `POST ${PROJECT}/environments`,
    path: { projectId: '$project' },
    body: { name: 'Preview', slug: 'preview' },
    audit: 'environment:create',
    denial: viewer('environments:create'),
  },
  {
    route: `GET ${PROJECT}/environments/{environmentId}`,
    path: { projectId: '$project', environmentId: '$environment' },
    audit: 'environment:get',
    denial: powerless('environments:read'),
  },
  {
    route: `PATCH ${PROJECT}/environments/{environmentId}`,
    path: { projectId: '$project', environmentId: '$environment' },
    body: { position: 2 },
    audit: 'environment:update',
    denial: viewer('environments:edit'),
  },
  {
    route: `DELETE ${PROJECT}/environments/{environmentId}`,
    path: { projectId: '$project', environmentId: '$environment' },
    audit: 'environment:delete',
    denial: viewer('environments:delete'),
  },
];
