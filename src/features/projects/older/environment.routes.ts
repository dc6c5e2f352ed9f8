import { route, type WrittenRoute } from '../../../rest/route.js';
import { ENVIRONMENT_FIELDS, environmentRoutes } from '../environments/environment.routes.js';

const PRESENT = '/api/v1/projects/{projectId}/';
const OLDER = '/api/v1/workspace/{workspaceId}/';

/** Clients repeat in the body what the path names. */
const OF_PROJECT = { projectId: 'workspaceId', ProjectID: 'workspaceId' };
const OF_ONE = { ...OF_PROJECT, id: 'environmentId', ID: 'environmentId' };

/**
 * A route of environments at its older path, where a project is called a workspace. Document, rules and errors are the
 * same.
 */
function older(present: WrittenRoute): WrittenRoute {
  const { method, path, body, variables, reply } = present;
  const isOfOne = path.includes('{environmentId}');
  return {
    ...present,
    path: path.replace(PRESENT, OLDER),
    deprecated: true,
    summary: `${present.summary} (older path)`,
    ...(method === 'GET' ? {} : { harmless: isOfOne ? OF_ONE : OF_PROJECT }),
    // A client sends 0 for a position that nobody gave.
    ...(body === undefined ? {} : { absent: { position: 0 } }),
    variables: ({ params, query, body: given }) =>
      variables({
        params: {
          projectId: params.workspaceId as string,
          ...(isOfOne ? { environmentId: params.environmentId as string } : {}),
        },
        query,
        body: given,
      }),
    reply: (data) => {
      const { projectId, ...rest } = reply(data) as Readonly<Record<string, unknown>>;
      return projectId === undefined ? rest : { ...rest, workspace: projectId };
    },
  };
}

/** Environments at the paths and in the words of before, and by what single clients name them. */
export const olderEnvironmentRoutes = [
  ...environmentRoutes.map(older),
  route({
    extension: true,
    deprecated: true,
    method: 'GET',
    path: '/api/v1/workspace/environments/{environmentId}',
    summary: 'Get an environment by its ID alone (older path)',
    document: `query ($id: ID!) { environment(id: $id) { ${ENVIRONMENT_FIELDS} } }`,
    variables: ({ params }) => ({ id: params.environmentId }),
    reply: ({ environment }) => ({ environment }),
    errors: ['ENVIRONMENT_NOT_FOUND'],
  }),
  route({
    extension: true,
    method: 'GET',
    path: `${PRESENT}environments/slug/{slug}`,
    summary: 'Get an environment by its slug',
    document: `query ($projectId: ID!, $slug: String!) {
      environmentBySlug(projectId: $projectId, slug: $slug) { ${ENVIRONMENT_FIELDS} }
    }`,
    variables: ({ params }) => ({ projectId: params.projectId, slug: params.slug }),
    reply: ({ environmentBySlug }) => environmentBySlug,
    cached: true,
    errors: ['PROJECT_NOT_FOUND', 'ENVIRONMENT_NOT_FOUND'],
  }),
];
