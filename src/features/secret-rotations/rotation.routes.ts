import { z } from 'zod';
import {
  bodyOf,
  type Data,
  eachOf,
  nextCursor,
  paging,
  queryBoolean,
  type Route,
  route,
  routesAt,
} from '../../rest/route.js';
import { fieldOfType } from './content.js';
import type { RotationType } from './kind/rotation-kind.js';
import { TOKEN_EXAMPLE, TokenMapping, TokenParameters } from './kinds/datatool-service-token/token.rules.js';
import {
  ACCOUNT_EXAMPLE,
  AccountMapping,
  AccountParameters,
  AccountTemporary,
} from './kinds/hostos-local-account/account.rules.js';
import { CreateRotation, MoveRotation, UpdateRotation } from './rotation.rules.js';

const PATH = '/api/v2/secret-rotations';
const NOT_FOUND = ['SECRET_ROTATION_NOT_FOUND'] as const;
const OUTSIDE = ['UPSTREAM_REJECTED', 'UPSTREAM_UNREACHABLE', 'ROTATION_CONTINUES'] as const;
const BUSY = ['ROTATION_RUNNING', 'ROTATION_DELETING'] as const;

/** What a rotation has that does not depend on its type. */
const COMMON = `id name description type projectId place { environmentId environmentSlug environmentName folderId secretPath }
  connection { app name connectionId } isAutoRotationEnabled rotationInterval rotateAtUtc { hours minutes } status activeIndex lastAttemptedAt
  lastRotatedAt isLastManual lastAttemptId lastMessage nextRotationAt createdAt updatedAt`;

/** A type in REST: its rules, what is asked for of it, and what it is called there. */
interface TypeInRest {
  readonly type: RotationType;
  readonly title: string;
  readonly parameters: z.ZodObject;
  readonly secretsMapping: z.ZodObject;
  readonly temporaryParameters?: z.ZodObject;
  /** Whether its credentials can be reset with the rights of the connection. */
  readonly isReset?: boolean;
  readonly select: string;
  readonly credential: string;
  readonly example: object;
}

const TYPES: readonly TypeInRest[] = [
  {
    type: 'datatool-service-token',
    title: 'a service-token rotation',
    parameters: TokenParameters,
    secretsMapping: TokenMapping,
    select: `... on DatatoolServiceTokenRotation {
      parameters { tokenName permissionGrants { permissionSet projectId } } secretsMapping { serviceToken } }`,
    credential: '... on DatatoolServiceTokenCredential { serviceToken tokenId tokenName }',
    example: TOKEN_EXAMPLE,
  },
  {
    type: 'hostos-local-account',
    title: 'a local-account rotation',
    parameters: AccountParameters,
    secretsMapping: AccountMapping,
    temporaryParameters: AccountTemporary,
    isReset: true,
    select: `... on HostosLocalAccountRotation {
      parameters { username passwordRequirements { length required { digits lowercase uppercase symbols } allowedSymbols } rotationMethod }
      secretsMapping { username password } }`,
    credential: '... on HostosLocalAccountCredential { username password }',
    example: ACCOUNT_EXAMPLE,
  },
];

/** The fields of a rotation in the order of the interface. Source: specification, Secret rotation. */
const toReply = ({ place, connection: { connectionId, app, name }, ...row }: Data): Data => ({
  id: row.id,
  name: row.name,
  folderId: place.folderId,
  connectionId,
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
  rotationInterval: row.rotationInterval,
  rotationStatus: row.status,
  lastRotationAttemptedAt: row.lastAttemptedAt,
  lastRotatedAt: row.lastRotatedAt,
  connection: { app, name, id: connectionId },
  environment: { slug: place.environmentSlug, name: place.environmentName, id: place.environmentId },
  projectId: row.projectId,
  folder: { id: place.folderId, path: place.secretPath },
  rotateAtUtc: row.rotateAtUtc,
  type: row.type,
  parameters: row.parameters,
  secretsMapping: row.secretsMapping,
  description: row.description,
  isAutoRotationEnabled: row.isAutoRotationEnabled,
  activeIndex: row.activeIndex,
  lastRotationJobId: row.lastAttemptId,
  nextRotationAt: row.nextRotationAt,
  isLastRotationManual: row.isLastManual,
  lastRotationMessage: row.lastMessage,
});

/** Routes of one type. */
function routesOf(rest: TypeInRest): Route[] {
  const { type, title, parameters, secretsMapping, temporaryParameters, example } = rest;
  const select = `${COMMON} ${rest.select}`;
  const field = fieldOfType(type);
  const at = routesAt(`${PATH}/${type}`, { select });
  const one = (field_: string) => ({
    reply: (data: Data) => ({ secretRotation: toReply(data[field_].secretRotation) }),
  });
  const named = ({ params }: { params: Record<string, string> }) => ({ id: params.rotationId, type });
  const temporary = temporaryParameters === undefined ? {} : { temporaryParameters: temporaryParameters.optional() };
  const described = (rule: z.ZodObject) => rule.optional();
  return [
    at.post('', `Create ${title}`, {
      field: 'createSecretRotation',
      body: bodyOf(CreateRotation, 'content').extend({ parameters, secretsMapping, ...temporary }),
      variables: ({
        body: { parameters: wanted, secretsMapping: mapping, temporaryParameters: given, ...body },
      }: Data) => ({
        input: {
          ...body,
          content: {
            [field]: {
              parameters: wanted,
              secretsMapping: mapping,
              ...(given === undefined ? {} : { temporaryParameters: given }),
            },
          },
        },
      }),
      ...one('createSecretRotation'),
      errors: [
        ...(['PROJECT_NOT_FOUND', 'ENVIRONMENT_NOT_FOUND', 'FOLDER_NOT_FOUND', 'APP_CONNECTION_NOT_FOUND'] as const),
        ...(['SECRET_ROTATION_NAME_TAKEN', 'SECRET_KEY_TAKEN', 'ROTATION_RUNNING'] as const),
        ...OUTSIDE,
      ],
      example: example as never,
    }),
    at.get('', `List the rotations of this type of a project`, {
      field: 'secretRotations',
      query: z.strictObject({ projectId: z.string().meta({ description: 'The project.' }), ...paging }),
      variables: ({ query: { projectId, limit, cursor } }: Data) => ({ projectId, type, first: limit, after: cursor }),
      reply: ({ secretRotations: { nodes, pageInfo } }: Data) => ({
        secretRotations: eachOf(nodes as Data[], toReply),
        ...nextCursor(pageInfo),
      }),
      errors: ['PROJECT_NOT_FOUND'],
    }),
    at.get('/rotation-name/{name}', `Get ${title} by its name`, {
      field: 'secretRotationByName',
      query: z.strictObject({
        projectId: z.string().meta({ description: 'The project.' }),
        environment: z.string().meta({ description: 'Slug of the environment.' }),
        secretPath: z.string().optional().meta({ description: 'Path of the folder.' }),
      }),
      variables: ({ params, query }: Data) => ({ ...query, name: params.name, type }),
      reply: ({ secretRotationByName }: Data) => ({ secretRotation: toReply(secretRotationByName) }),
      errors: ['PROJECT_NOT_FOUND', ...NOT_FOUND],
    }),
    at.get('/{rotationId}', `Get ${title}`, {
      ...(type === 'datatool-service-token' ? { operation: 16 } : {}),
      field: 'secretRotation',
      variables: named,
      reply: ({ secretRotation }: Data) => ({ secretRotation: toReply(secretRotation) }),
      errors: NOT_FOUND,
    }),
    at.patch('/{rotationId}', `Update ${title}`, {
      field: 'updateSecretRotation',
      body: bodyOf(UpdateRotation, 'id', 'type', 'expectedVersion', 'content').extend({
        parameters: described(parameters),
        secretsMapping: described(secretsMapping),
      }),
      variables: ({ params, body: { parameters: wanted, secretsMapping: mapping, ...body } }: Data) => ({
        input: {
          ...{ id: params.rotationId, type },
          ...body,
          ...(wanted === undefined && mapping === undefined
            ? {}
            : { content: { [field]: { parameters: wanted, secretsMapping: mapping } } }),
        },
      }),
      ...one('updateSecretRotation'),
      errors: [...NOT_FOUND, ...BUSY, 'SECRET_ROTATION_NAME_TAKEN', 'SECRET_KEY_TAKEN', 'CONCURRENT_CHANGE'],
      example: { rotationInterval: 14 } as never,
    }),
    at.delete('/{rotationId}', `Delete ${title}`, {
      ...(type === 'datatool-service-token' ? { operation: 17 } : {}),
      field: 'deleteSecretRotation',
      query: z.strictObject({
        deleteSecrets: queryBoolean(false).meta({ description: 'Whether the mapped secrets are deleted too.' }),
        revokeGeneratedCredentials: queryBoolean(false).meta({
          description: 'Whether its credentials are revoked first.',
        }),
      }),
      variables: ({ params, query }: Data) => ({ input: { id: params.rotationId, type, ...query } }),
      ...one('deleteSecretRotation'),
      errors: [...NOT_FOUND, 'ROTATION_RUNNING', ...OUTSIDE],
    }),
    at.post('/{rotationId}/rotate-secrets', `Rotate the credentials of ${title}`, {
      ...(type === 'hostos-local-account' ? { operation: 18 } : {}),
      field: 'rotateSecrets',
      select: `secretRotation { ${select} }`,
      variables: (request: Data) => ({ input: named(request as { params: Record<string, string> }) }),
      reply: ({ rotateSecrets }: Data) => ({ secretRotation: toReply(rotateSecrets.secretRotation) }),
      errors: [...NOT_FOUND, ...BUSY, 'ROTATION_UNDECIDED', ...OUTSIDE],
    }),
    at.get('/{rotationId}/generated-credentials', `Get the credentials of ${title}`, {
      field: 'generatedCredentials',
      sensitive: true,
      select: `secretRotation { id type activeIndex } credentials { ${rest.credential} }`,
      variables: named,
      reply: ({ generatedCredentials: { secretRotation: row, credentials } }: Data) => ({
        generatedCredentials: credentials,
        activeIndex: row.activeIndex,
        rotationId: row.id,
        type: row.type,
      }),
      errors: NOT_FOUND,
    }),
    at.post('/{rotationId}/move', `Move ${title} with its secrets`, {
      field: 'moveSecretRotation',
      body: bodyOf(MoveRotation, 'id', 'type'),
      variables: ({ params, body }: Data) => ({ input: { id: params.rotationId, type, ...body } }),
      ...one('moveSecretRotation'),
      errors: [
        ...NOT_FOUND,
        ...BUSY,
        'ENVIRONMENT_NOT_FOUND',
        'FOLDER_NOT_FOUND',
        'SECRET_KEY_TAKEN',
        'ROTATED_SECRET',
      ],
      example: { destinationEnvironment: 'prod', destinationSecretPath: '/payments' } as never,
    }),
  ];
}

/** Source: behaviour 9.10. */
const reconcileRoute = ({ type, title, select }: TypeInRest): Route =>
  routesAt(`${PATH}/${type}`, { select: `${COMMON} ${select}` }).post(
    '/{rotationId}/reconcile',
    `Reset the password of ${title} with the account of its connection`,
    {
      field: 'reconcileSecretRotation',
      variables: ({ params }: Data) => ({ input: { id: params.rotationId, type } }),
      reply: ({ reconcileSecretRotation: { secretRotation } }: Data) => ({
        message: 'The password was reset, and the secrets hold it.',
        reconciled: true,
        secretRotation: toReply(secretRotation),
      }),
      errors: [...NOT_FOUND, ...BUSY, 'ROTATION_NOT_RECONCILABLE', ...OUTSIDE],
    },
  );

/** Rotations of every type. Source: specification 16 to 18, behaviour 9.8, clients (Rotations). */
export function rotationRoutes(): Route[] {
  const list = route({
    method: 'GET',
    path: PATH,
    summary: 'List the rotations of a project',
    extension: true,
    query: z.strictObject({ projectId: z.string().meta({ description: 'The project.' }), ...paging }),
    document: `query ($projectId: ID!, $first: Int, $after: String) {
      secretRotations(projectId: $projectId, first: $first, after: $after) {
        nodes { ${COMMON} ${TYPES.map(({ select }) => select).join(' ')} } pageInfo { hasNextPage endCursor } }
    }`,
    variables: ({ query: { projectId, limit, cursor } }) => ({ projectId, first: limit, after: cursor }),
    reply: ({ secretRotations: { nodes, pageInfo } }) => ({
      secretRotations: eachOf(nodes as Data[], toReply),
      ...nextCursor(pageInfo),
    }),
    errors: ['PROJECT_NOT_FOUND'],
  });
  return [list, ...TYPES.flatMap(routesOf), ...TYPES.filter(({ isReset }) => isReset).map(reconcileRoute)];
}
