import { powerless, type RestOperation, viewer } from '../operation.js';

const PROJECT = '/api/v1/projects/{projectId}';

/** Tags. */
export const tags: readonly RestOperation[] = [
  {
    route: `POST ${PROJECT}/tags`,
    path: { projectId: '$project' },
    body: { slug: 'database', color: '#aa0000' },
    audit: 'tag:create',
    denial: viewer('tags:create'),
  },
  { route: `GET ${PROJECT}/tags`, path: { projectId: '$project' }, audit: 'tag:list', denial: powerless('tags:read') },
  {
    route: `GET ${PROJECT}/tags/{tagId}`,
    path: { projectId: '$project', tagId: '$tag' },
    audit: 'tag:get',
    denial: powerless('tags:read'),
  },
  {
    route: `GET ${PROJECT}/tags/slug/{slug}`,
    path: { projectId: '$project', slug: '$tagSlug' },
    audit: 'tag:get',
    denial: powerless('tags:read'),
  },
  {
    route: `PATCH ${PROJECT}/tags/{tagId}`,
    path: { projectId: '$project', tagId: '$tag' },
    body: { color: '#00aa00' },
    audit: 'tag:update',
    denial: viewer('tags:edit'),
  },
  {
    route: `DELETE ${PROJECT}/tags/{tagId}`,
    path: { projectId: '$project', tagId: '$tag' },
    audit: 'tag:delete',
    denial: viewer('tags:delete'),
  },
];
