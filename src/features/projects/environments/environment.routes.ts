import { bodyOf, route } from '../../../rest/route.js';
import { CreateEnvironment, UpdateEnvironment } from './environment.rules.js';

/** Fields of an environment. */
export const ENVIRONMENT_FIELDS = 'id name slug position projectId createdAt updatedAt';
const PATH = '/api/v1/projects/{projectId}/environments';

type Changed = { environment: { projectId: unknown } };
const done = (message: string, { environment }: Changed) => ({
  message,
  projectId: environment.projectId,
  environment,
});

/** Environments of a project. */
export const environmentRoutes = [
  route({
    extension: true,
    method: 'POST',
    path: PATH,
    summary: 'Create an environment',
    body: bodyOf(CreateEnvironment, 'projectId'),
    document: `mutation ($input: CreateEnvironmentInput!) { createEnvironment(input: $input) { environment { ${ENVIRONMENT_FIELDS} } } }`,
    variables: ({ params, body }) => ({ input: { projectId: params.projectId, ...body } }),
    reply: ({ createEnvironment }) => done('The environment was created.', createEnvironment),
    example: { name: 'Preview', slug: 'preview', position: 2 },
    errors: ['PROJECT_NOT_FOUND', 'ENVIRONMENT_SLUG_TAKEN'],
  }),
  route({
    extension: true,
    method: 'GET',
    path: `${PATH}/{environmentId}`,
    summary: 'Get an environment',
    document: `query ($projectId: ID!, $environmentId: ID!) { environment(projectId: $projectId, id: $environmentId) { ${ENVIRONMENT_FIELDS} } }`,
    variables: ({ params }) => ({ projectId: params.projectId, environmentId: params.environmentId }),
    reply: ({ environment }) => ({ environment }),
    cached: true,
    errors: ['PROJECT_NOT_FOUND', 'ENVIRONMENT_NOT_FOUND'],
  }),
  route({
    extension: true,
    method: 'PATCH',
    path: `${PATH}/{environmentId}`,
    summary: 'Update an environment',
    body: bodyOf(UpdateEnvironment, 'projectId', 'id'),
    document: `mutation ($input: UpdateEnvironmentInput!) { updateEnvironment(input: $input) { environment { ${ENVIRONMENT_FIELDS} } } }`,
    variables: ({ params, body }) => ({
      input: { projectId: params.projectId, id: params.environmentId, ...body },
    }),
    reply: ({ updateEnvironment }) => done('The environment was updated.', updateEnvironment),
    example: { name: 'Pre-production', position: 1 },
    errors: [
      'PROJECT_NOT_FOUND',
      'ENVIRONMENT_NOT_FOUND',
      'ENVIRONMENT_SLUG_TAKEN',
      'REFERENCES_TOO_LONG',
      'CONCURRENT_CHANGE',
      'SEALED_VALUE_INVALID',
    ],
  }),
  route({
    extension: true,
    method: 'DELETE',
    path: `${PATH}/{environmentId}`,
    summary: 'Delete an environment',
    document: `mutation ($input: DeleteEnvironmentInput!) { deleteEnvironment(input: $input) { environment { ${ENVIRONMENT_FIELDS} } } }`,
    variables: ({ params }) => ({ input: { projectId: params.projectId, id: params.environmentId } }),
    reply: ({ deleteEnvironment }) => done('The environment was deleted.', deleteEnvironment),
    errors: ['PROJECT_NOT_FOUND', 'ENVIRONMENT_NOT_FOUND', 'ENVIRONMENT_IMPORTED', 'ROTATED_SECRET'],
  }),
];
