import { type GraphQLOperation, powerless, viewer } from '../operation.js';

const tag = { id: '$tag' };

/** Tags. */
export const tags: readonly GraphQLOperation[] = [
  { field: 'tags', args: { projectId: '$project' }, audit: 'tag:list', denial: powerless('tags:read') },
  { field: 'tag', args: tag, audit: 'tag:get', denial: powerless('tags:read') },
  {
    field: 'tagBySlug',
    args: { projectId: '$project', slug: '$tagSlug' },
    audit: 'tag:get',
    denial: powerless('tags:read'),
  },
  {
    field: 'createTag',
    args: { projectId: '$project', slug: 'database', color: '#aa0000' },
    audit: 'tag:create',
    denial: viewer('tags:create'),
  },
  { field: 'updateTag', args: { ...tag, color: '#00aa00' }, audit: 'tag:update', denial: viewer('tags:edit') },
  { field: 'deleteTag', args: tag, audit: 'tag:delete', denial: viewer('tags:delete') },
];
