import { bodyOf, routesAt } from '../../rest/route.js';
import { CreateTag, UpdateTag } from './tag.rules.js';

const route = routesAt('/api/v1/projects/{projectId}/tags', {
  extension: true,
  select: 'id slug name color',
  errors: ['PROJECT_NOT_FOUND'],
});

export const tagRoutes = [
  route({
    method: 'POST',
    summary: 'Create a tag',
    field: 'createTag',
    body: bodyOf(CreateTag, 'projectId'),
    errors: ['TAG_SLUG_TAKEN'],
    example: { slug: 'database', color: '#aa0000' },
  }),
  route({
    method: 'GET',
    summary: 'List tags',
    field: 'tags',
    cached: true,
  }),
  route({
    method: 'GET',
    path: '/{tagId}',
    summary: 'Get a tag',
    field: 'tag',
    cached: true,
    errors: ['TAG_NOT_FOUND'],
  }),
  route({
    method: 'GET',
    path: '/slug/{slug}',
    summary: 'Get a tag by its slug',
    field: 'tagBySlug',
    as: 'tag',
    cached: true,
    errors: ['TAG_NOT_FOUND'],
  }),
  route({
    method: 'PATCH',
    path: '/{tagId}',
    summary: 'Update a tag',
    field: 'updateTag',
    body: bodyOf(UpdateTag, 'projectId', 'tagId'),
    errors: ['TAG_NOT_FOUND', 'TAG_SLUG_TAKEN'],
    example: { color: '#00aa00' },
  }),
  route({
    method: 'DELETE',
    path: '/{tagId}',
    summary: 'Delete a tag',
    field: 'deleteTag',
    errors: ['TAG_NOT_FOUND'],
  }),
];
