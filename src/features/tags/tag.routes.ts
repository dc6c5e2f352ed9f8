import { z } from 'zod';
import { bodyOf, nextCursor, paging, route } from '../../rest/route.js';
import { CreateTag, UpdateTag } from './tag.rules.js';

const FIELDS = 'id slug name color';
const TAGS = '/api/v1/projects/{projectId}/tags';

export const tagRoutes = [
  route({
    extension: true,
    method: 'POST',
    path: TAGS,
    summary: 'Create a tag',
    body: bodyOf(CreateTag, 'projectId'),
    document: `mutation ($input: CreateTagInput!) { createTag(input: $input) { tag { ${FIELDS} } } }`,
    variables: ({ params, body }) => ({ input: { projectId: params.projectId, ...body } }),
    reply: ({ createTag }) => ({ tag: createTag.tag }),
    errors: ['PROJECT_NOT_FOUND', 'TAG_SLUG_TAKEN'],
    example: { slug: 'database', color: '#aa0000' },
  }),
  route({
    extension: true,
    method: 'GET',
    path: TAGS,
    summary: 'List tags',
    query: z.strictObject(paging),
    document: `query ($projectId: ID!, $first: Int, $after: String) {
      tags(projectId: $projectId, first: $first, after: $after) { nodes { ${FIELDS} } pageInfo { hasNextPage endCursor } }
    }`,
    variables: ({ params, query }) => ({ projectId: params.projectId, first: query.limit, after: query.cursor }),
    reply: ({ tags }) => ({ tags: tags.nodes, ...nextCursor(tags.pageInfo) }),
    cached: true,
    errors: ['PROJECT_NOT_FOUND'],
  }),
  route({
    extension: true,
    method: 'GET',
    path: `${TAGS}/{tagId}`,
    summary: 'Get a tag',
    document: `query ($projectId: ID!, $id: ID!) { tag(projectId: $projectId, id: $id) { ${FIELDS} } }`,
    variables: ({ params }) => ({ projectId: params.projectId, id: params.tagId }),
    reply: ({ tag }) => ({ tag }),
    cached: true,
    errors: ['PROJECT_NOT_FOUND', 'TAG_NOT_FOUND'],
  }),
  route({
    extension: true,
    method: 'GET',
    path: `${TAGS}/slug/{slug}`,
    summary: 'Get a tag by its slug',
    document: `query ($projectId: ID!, $slug: String!) { tagBySlug(projectId: $projectId, slug: $slug) { ${FIELDS} } }`,
    variables: ({ params }) => ({ projectId: params.projectId, slug: params.slug }),
    reply: ({ tagBySlug }) => ({ tag: tagBySlug }),
    cached: true,
    errors: ['PROJECT_NOT_FOUND', 'TAG_NOT_FOUND'],
  }),
  route({
    extension: true,
    method: 'PATCH',
    path: `${TAGS}/{tagId}`,
    summary: 'Update a tag',
    body: bodyOf(UpdateTag, 'projectId', 'tagId'),
    document: `mutation ($input: UpdateTagInput!) { updateTag(input: $input) { tag { ${FIELDS} } } }`,
    variables: ({ params, body }) => ({ input: { projectId: params.projectId, tagId: params.tagId, ...body } }),
    reply: ({ updateTag }) => ({ tag: updateTag.tag }),
    errors: ['PROJECT_NOT_FOUND', 'TAG_NOT_FOUND', 'TAG_SLUG_TAKEN'],
    example: { color: '#00aa00' },
  }),
  route({
    extension: true,
    method: 'DELETE',
    path: `${TAGS}/{tagId}`,
    summary: 'Delete a tag',
    document: `mutation ($input: DeleteTagInput!) { deleteTag(input: $input) { tag { ${FIELDS} } } }`,
    variables: ({ params }) => ({ input: { projectId: params.projectId, tagId: params.tagId } }),
    reply: ({ deleteTag }) => ({ tag: deleteTag.tag }),
    errors: ['PROJECT_NOT_FOUND', 'TAG_NOT_FOUND'],
  }),
];
