import { bodyOf, routesAt } from '../../../rest/route.js';
import { CreateTag, UpdateTag } from './tag.rules.js';

const tags = routesAt('/api/v1/projects/{projectId}/tags', {
  select: 'id slug name: slug * -projectId',
  errors: ['PROJECT_NOT_FOUND'],
});

const older = routesAt('/api/v1/workspace/{projectId}/tags', {
  select: 'id slug name: slug color *',
  errors: ['PROJECT_NOT_FOUND'],
});
const one = { as: 'workspaceTag', deprecated: true } as const;

/** Clients give a tag a name, which here is its slug. */
const NAMED = { name: null };

/** The same at the paths and in the words of before. */
const olderTagRoutes = [
  older.post('', 'Create a tag (older path)', {
    ...one,
    field: 'createTag',
    harmless: NAMED,
    body: bodyOf(CreateTag, 'projectId'),
    errors: ['TAG_SLUG_TAKEN'],
    example: { slug: 'database', color: '#aa0000' },
  }),
  older.get('', 'List tags (older path)', { field: 'tags', as: 'workspaceTags', deprecated: true, cached: true }),
  older.get('/{tagId}', 'Get a tag (older path)', { ...one, field: 'tag', cached: true, errors: ['TAG_NOT_FOUND'] }),
  older.get('/slug/{slug}', 'Get a tag by its slug (older path)', {
    ...one,
    field: 'tagBySlug',
    cached: true,
    errors: ['TAG_NOT_FOUND'],
  }),
  older.patch('/{tagId}', 'Update a tag (older path)', {
    ...one,
    field: 'updateTag',
    harmless: NAMED,
    body: bodyOf(UpdateTag, 'projectId', 'id'),
    errors: ['TAG_NOT_FOUND', 'TAG_SLUG_TAKEN'],
    example: { color: '#00aa00' },
  }),
  older.delete('/{tagId}', 'Delete a tag (older path)', { ...one, field: 'deleteTag', errors: ['TAG_NOT_FOUND'] }),
];

export const tagRoutes = [
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
  ...olderTagRoutes,
];
