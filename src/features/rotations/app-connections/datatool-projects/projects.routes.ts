import * as z from 'zod';
import { nextCursor, paging, route } from '../../../../rest/route.js';

/** IDs of the external system are numbers; GraphQL calls them `number`, because `id` is a string there. */
export const projectsRoute = route({
  method: 'GET',
  path: '/api/v1/app-connections/datatool/{connectionId}/projects',
  summary: 'List the projects of a datatool account',
  extension: true,
  query: z.strictObject({ ...paging }),
  document: `query ($connectionId: ID!, $first: Int, $after: String) {
    datatoolProjects(connectionId: $connectionId, first: $first, after: $after) {
      nodes { id: number name description createdAt updatedAt } pageInfo { hasNextPage endCursor } } }`,
  variables: ({ params, query: { limit, cursor } }) => ({
    connectionId: params.connectionId,
    first: limit,
    after: cursor,
  }),
  reply: ({ datatoolProjects: { nodes, pageInfo } }) => ({ projects: nodes, ...nextCursor(pageInfo) }),
  errors: ['APP_CONNECTION_NOT_FOUND', 'UPSTREAM_REJECTED', 'UPSTREAM_UNREACHABLE'],
});
