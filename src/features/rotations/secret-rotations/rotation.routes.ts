import * as z from 'zod';
import { type Data, eachOf, nextCursor, paging, type Route, route, routesAt } from '../../../rest/route.js';
import { type KindDeclaration, typePrefixOf } from './kind/kind-declaration.js';
import { DECLARATIONS } from './kinds/kinds.js';
import { changeRoutes } from './rotation-change.routes.js';
import { ATTEMPT, COMMON, PATH, selectionOf, toReply } from './rotation-selection.js';

const NOT_FOUND = ['SECRET_ROTATION_NOT_FOUND'] as const;
const projectId = z.string().meta({ description: 'ID of the project.' });

const listOf = ({ secretRotations: { nodes, pageInfo } }: Data) => ({
  secretRotations: eachOf(nodes as Data[], toReply),
  ...nextCursor(pageInfo),
});

const LIST = route({
  method: 'GET',
  path: PATH,
  summary: 'List the rotations of a project',
  extension: true,
  query: z.strictObject({ projectId, ...paging }),
  document: `query ($projectId: ID!, $first: Int, $after: String) {
    secretRotations(projectId: $projectId, first: $first, after: $after) {
      nodes { ${COMMON} ${DECLARATIONS.map(selectionOf).join(' ')} } pageInfo { hasNextPage endCursor } }
  }`,
  variables: ({ query: { limit, cursor, ...query } }) => ({ ...query, first: limit, after: cursor }),
  reply: listOf,
  errors: ['PROJECT_NOT_FOUND'],
});

const OPTIONS = route({
  method: 'GET',
  path: `${PATH}/options`,
  summary: 'List the rotation types',
  extension: true,
  document: 'query { secretRotationKinds { kinds { type title app credentialsOverlap } } }',
  variables: () => ({}),
  reply: ({ secretRotationKinds: { kinds } }) => ({
    secretRotationOptions: eachOf(kinds as Data[], ({ type, title, app, credentialsOverlap }) => ({
      name: title,
      type,
      connection: app,
      credentialsOverlap,
    })),
  }),
});

/** What reads rotations of one type. */
function readRoutes(declared: KindDeclaration): Route[] {
  const { type, credential, rest } = declared;
  const { title, operations } = rest;
  const noun = `${typePrefixOf(declared.type)}Rotation`;
  const at = routesAt(`${PATH}/${type}`, { select: `${COMMON} ${selectionOf(declared)}` });
  const named = ({ params }: Data) => ({ id: params.rotationId, type });
  return [
    at.get('', `List the ${title.replace(/^an? /, '')}s of a project`, {
      operationId: `list${noun}s`,
      field: 'secretRotations',
      query: z.strictObject({ projectId, ...paging }),
      variables: ({ query: { limit, cursor, ...query } }: Data) => ({ ...query, type, first: limit, after: cursor }),
      reply: listOf,
      errors: ['PROJECT_NOT_FOUND'],
    }),
    at.get('/rotation-name/{name}', `Get ${title} by its name`, {
      operationId: `get${noun}ByName`,
      field: 'secretRotationByName',
      query: z.strictObject({
        projectId,
        environment: z.string().meta({ description: 'Slug of the environment, for example `prod`.' }),
        secretPath: z.string().optional().meta({ description: 'Path of the folder, for example `/payments`.' }),
      }),
      variables: ({ params, query }: Data) => ({ ...query, name: params.name, type }),
      reply: ({ secretRotationByName }: Data) => ({ secretRotation: toReply(secretRotationByName) }),
      errors: ['PROJECT_NOT_FOUND', ...NOT_FOUND],
    }),
    at.get('/{rotationId}', `Get ${title}`, {
      ...operations.get,
      operationId: `get${noun}`,
      field: 'secretRotation',
      variables: named,
      reply: ({ secretRotation }: Data) => ({ secretRotation: toReply(secretRotation) }),
      errors: NOT_FOUND,
    }),
    at.get('/{rotationId}/attempts', `List the attempts of ${title}`, {
      operationId: `list${noun}Attempts`,
      field: 'secretRotationAttempts',
      select: ATTEMPT,
      query: z.strictObject(paging),
      variables: ({ params, query: { limit, cursor } }: Data) => ({
        ...{ id: params.rotationId, type },
        ...{ first: limit, after: cursor },
      }),
      errors: NOT_FOUND,
    }),
    at.get('/{rotationId}/generated-credentials', `Get the credentials of ${title}`, {
      operationId: `get${noun}Credentials`,
      field: 'generatedCredentials',
      sensitive: true,
      select: `secretRotation { id type activeIndex } credentials { ... on ${typePrefixOf(type)}Credential { ${Object.keys(credential.fields).join(' ')} } }`,
      variables: named,
      reply: ({ generatedCredentials: { secretRotation: row, credentials } }: Data) => ({
        generatedCredentials: credentials,
        activeIndex: row.activeIndex,
        rotationId: row.id,
        type: row.type,
      }),
      errors: NOT_FOUND,
    }),
  ];
}

/** Rotations of every type (operations 16 to 18). */
export const rotationRoutes = (): Route[] => [
  LIST,
  OPTIONS,
  ...DECLARATIONS.flatMap((declared) => [...readRoutes(declared), ...changeRoutes(declared)]),
];
