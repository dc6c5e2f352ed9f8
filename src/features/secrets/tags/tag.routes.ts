import { olderPaths } from '../../../rest/older-paths.js';
import { bodyOf, routesAt } from '../../../rest/route.js';
import { CreateTag, UpdateTag } from './tag.rules.js';

const tags = routesAt('/api/v1/projects/{projectId}/tags', {
  select: 'id slug name: slug * -projectId',
  errors: ['PROJECT_NOT_FOUND'],
});

const presentTagRoutes = [
  tags.post('', 'Create a tag', {
    field: 'createTag',
    body: bodyOf(CreateTag, 'projectId'),
    errors: ['TAG_SLUG_TAKEN'],
    example: { slug: 'database', color: '#aa0000' },
  }),
  tags.get('', 'List tags', { field: 'tags', cached: true }),
  tags.get('/{tagId}', 'Get a tag', { field: 'tag', cached: true, errors: ['TAG_NOT_FOUND'] }),
  tags.get('/slug/{slug}', 'Get a tag by its slug', {
    field: 'tagBySlug',
    as: 'tag',
    cached: true,
    errors: ['TAG_NOT_FOUND'],
  }),
  tags.patch('/{tagId}', 'Update a tag', {
    field: 'updateTag',
    body: bodyOf(UpdateTag, 'projectId', 'id'),
    errors: ['TAG_NOT_FOUND', 'TAG_SLUG_TAKEN'],
    example: { color: '#00aa00' },
  }),
  tags.delete('/{tagId}', 'Delete a tag', { field: 'deleteTag', errors: ['TAG_NOT_FOUND'] }),
];

/** Clients give a tag a name, which here is its slug. */
const NAMED = { harmless: { name: null } };

export const tagRoutes = [
  ...presentTagRoutes,
  ...olderPaths(
    presentTagRoutes,
    {
      from: '/api/v1/projects/{projectId}/tags',
      to: '/api/v1/workspace/{projectId}/tags',
      why: 'Version 1 calls tags those of a workspace, and shows which one that is.',
      select: 'id slug name: slug color *',
      as: ['workspaceTag', 'workspaceTags'],
    },
    {
      ...{ POST: NAMED, GET: {}, 'GET /{tagId}': {}, 'GET /slug/{slug}': {} },
      ...{ 'PATCH /{tagId}': NAMED, 'DELETE /{tagId}': {} },
    },
  ),
];
