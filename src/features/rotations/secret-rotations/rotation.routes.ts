import * as z from 'zod';
import { bodyOf, type Data, eachOf, paging, queryBoolean, type Route, routesAt } from '../../../rest/route.js';
import { fieldOf, type KindDeclaration, typePrefixOf } from './kind/rotation-kind.js';
import { DECLARATIONS } from './kinds/kinds.js';
import { CreateRotation, GiveUpRevocations, MoveRotation, UpdateRotation } from './rotation.rules.js';

const PATH = '/api/v2/secret-rotations';

/** Fields that all types of rotations have. */
const COMMON = `id name description type projectId place connection isAutoRotationEnabled rotationInterval rotateAtUtc status activeIndex
  lastAttemptedAt lastRotatedAt isLastManual lastAttemptId lastMessage nextRotationAt version createdAt updatedAt`;

/** Fields of the rotations of a type. */
const selectionOf = ({ type }: KindDeclaration): string =>
  `... on ${typePrefixOf(type)}Rotation { parameters secretsMapping }`;

/** The fields of a rotation in the order of the specification. */
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

const NOT_FOUND = ['SECRET_ROTATION_NOT_FOUND'] as const;
const projectId = z.string().meta({ description: 'ID of the project.' });

/** What routes of rotations show. */
const SHOWN = { as: ['secretRotation', 'secretRotations'], show: toReply } as const;

const ofAllTypes = routesAt(PATH, { ...SHOWN, select: `${COMMON} ${DECLARATIONS.map(selectionOf).join(' ')}` });
const LIST = ofAllTypes.get('', 'List the rotations of a project', {
  field: 'secretRotations',
  query: z.strictObject({ projectId, ...paging }),
  errors: ['PROJECT_NOT_FOUND'],
});

const OPTIONS = routesAt(PATH).get('/options', 'List the rotation types', {
  field: 'secretRotationKinds',
  select: 'kinds',
  as: null,
  show: ({ kinds }) => ({
    secretRotationOptions: eachOf(
      kinds as Data[],
      ({ type, title, app, hasOverlappingCredentials: credentialsOverlap }) => ({
        name: title,
        type,
        connection: app,
        credentialsOverlap,
      }),
    ),
  }),
});

/** Declares routes of rotations of one type. */
const routesOf = (declared: KindDeclaration) =>
  routesAt(`${PATH}/${declared.type}`, {
    ...SHOWN,
    select: `${COMMON} ${selectionOf(declared)}`,
    given: { type: declared.type },
  });

/** What reads rotations of one type. */
function readRoutes(declared: KindDeclaration): Route[] {
  const { type, credential, rest } = declared;
  const { title, operations } = rest;
  const noun = `${typePrefixOf(declared.type)}Rotation`;
  const at = routesOf(declared);
  return [
    at.get('', `List the ${title.replace(/^an? /, '')}s of a project`, {
      operationId: `list${noun}s`,
      field: 'secretRotations',
      query: z.strictObject({ projectId, ...paging }),
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
      errors: ['PROJECT_NOT_FOUND', ...NOT_FOUND],
    }),
    at.get('/{rotationId}', `Get ${title}`, {
      ...operations.get,
      operationId: `get${noun}`,
      field: 'secretRotation',
      errors: NOT_FOUND,
    }),
    at.get('/{rotationId}/attempts', `List the attempts of ${title}`, {
      operationId: `list${noun}Attempts`,
      field: 'secretRotationAttempts',
      select: '*',
      as: 'secretRotationAttempts',
      show: (attempt) => attempt,
      errors: NOT_FOUND,
    }),
    at.get('/{rotationId}/generated-credentials', `Get the credentials of ${title}`, {
      operationId: `get${noun}Credentials`,
      field: 'generatedCredentials',
      sensitive: true,
      select: `secretRotation { id type activeIndex } credentials { ... on ${typePrefixOf(type)}Credential { ${Object.keys(credential.fields).join(' ')} } }`,
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

const at = routesAt(`${PATH}/credential-debts`);

/** Credentials that are still to be revoked. */
export const pendingRevocationRoutes: Route[] = [
  at.get('', 'List credentials that are still to be revoked', {
    field: 'credentialDebts',
    query: z.strictObject({
      projectId: z.string().optional().meta({ description: 'ID of a project: only its credentials.' }),
      connectionId: z
        .string()
        .optional()
        .meta({ description: 'ID of an app connection: only credentials that were created with it.' }),
      ...paging,
    }),
    errors: ['PROJECT_NOT_FOUND'],
  }),
  at.post('/give-up', 'Stop revoking credentials', {
    field: 'giveUpCredentialDebts',
    body: bodyOf(GiveUpRevocations),
    example: { ids: ['0f9f4d3e-2a55-4c0e-9d8e-5f0a6a0b1c22'] },
    errors: ['CREDENTIAL_DEBT_NOT_FOUND'],
  }),
];

/** Attempts to rotate. */
export const attemptRoutes: Route[] = [
  routesAt(`${PATH}/attempts`).post('/{attemptId}/cancel', 'Cancel an attempt to rotate', {
    field: 'cancelSecretRotationAttempt',
    errors: ['SECRET_ROTATION_ATTEMPT_NOT_FOUND', 'ROTATION_ATTEMPT_BEGUN'],
  }),
];

const OUTSIDE = ['UPSTREAM_REJECTED', 'UPSTREAM_UNREACHABLE', 'ROTATION_CONTINUES', 'ROTATION_CANCELLED'] as const;
const BUSY = ['ROTATION_RUNNING', 'ROTATION_DELETING'] as const;
const AT_A_PLACE = ['ENVIRONMENT_NOT_FOUND', 'FOLDER_NOT_FOUND', 'SECRET_KEY_TAKEN'] as const;

/** Clients repeat in the body what the path names. */
const OF_TYPE = { Provider: null };
const OF_ONE = { ...OF_TYPE, ID: 'rotationId' };

/** What REST has beside other fields, and GraphQL by its type. */
function contentOf({ type }: KindDeclaration, { parameters, secretsMapping, temporaryParameters }: Data): Data {
  const given = Object.entries({ parameters, secretsMapping, temporaryParameters }).filter(
    ([, part]) => part !== undefined,
  );
  return given.length === 0 ? {} : { content: { [fieldOf(type)]: Object.fromEntries(given) } };
}
const withoutContent = ({ parameters: _, secretsMapping: __, temporaryParameters: ___, ...body }: Data): Data => body;

/** What makes, changes and moves rotations of one type. */
function settingRoutes(declared: KindDeclaration): Route[] {
  const { content, rest } = declared;
  const { title, example } = rest;
  const noun = `${typePrefixOf(declared.type)}Rotation`;
  const { parameters, secretsMapping } = content.shape;
  const at = routesOf(declared);
  return [
    at.post('', `Create ${title}`, {
      operationId: `create${noun}`,
      field: 'createSecretRotation',
      body: bodyOf(CreateRotation, 'content').extend(content.shape),
      harmless: OF_TYPE,
      given: {},
      input: (body: Data) => ({ ...withoutContent(body), ...contentOf(declared, body) }),
      errors: [
        ...(['PROJECT_NOT_FOUND', 'APP_CONNECTION_NOT_FOUND', 'SECRET_ROTATION_NAME_TAKEN'] as const),
        ...AT_A_PLACE,
        ...(['ROTATION_RUNNING', 'ACCOUNT_ROTATED', 'ACCOUNT_OF_CONNECTION'] as const),
        ...OUTSIDE,
      ],
      example: example as never,
    }),
    at.patch('/{rotationId}', `Update ${title}`, {
      operationId: `update${noun}`,
      field: 'updateSecretRotation',
      body: bodyOf(UpdateRotation, 'id', 'type', 'expectedVersion', 'content').extend({
        parameters: parameters.optional(),
        secretsMapping: secretsMapping.optional(),
      }),
      harmless: OF_ONE,
      input: (body: Data) => ({ ...withoutContent(body), ...contentOf(declared, body) }),
      ifMatch: ({ secretRotation }) => ({ expectedVersion: secretRotation.version }),
      errors: [...NOT_FOUND, ...BUSY, 'SECRET_ROTATION_NAME_TAKEN', 'SECRET_KEY_TAKEN', 'CONCURRENT_CHANGE'],
      example: { rotationInterval: 14 } as never,
    }),
    at.post('/{rotationId}/move', `Move ${title} with its secrets`, {
      operationId: `move${noun}`,
      field: 'moveSecretRotation',
      body: bodyOf(MoveRotation, 'id', 'type'),
      errors: [...NOT_FOUND, ...BUSY, ...AT_A_PLACE, 'SECRET_ROTATION_NAME_TAKEN', 'ROTATED_SECRET'],
      example: { destinationEnvironment: 'prod', destinationSecretPath: '/payments' } as never,
    }),
  ];
}

/** What reaches the external system by rotations of one type. */
function outsideRoutes(declared: KindDeclaration): Route[] {
  const { title, operations } = declared.rest;
  const noun = `${typePrefixOf(declared.type)}Rotation`;
  const at = routesOf(declared);
  return [
    at.delete('/{rotationId}', `Delete ${title}`, {
      ...operations.delete,
      operationId: `delete${noun}`,
      field: 'deleteSecretRotation',
      query: z.strictObject({
        deleteSecrets: queryBoolean(false).meta({ description: 'Whether to delete the mapped secrets too.' }),
        revokeGeneratedCredentials: queryBoolean(false).meta({
          description:
            'Whether to revoke its credentials first. If false, a deletion that waits for that ends without it.',
        }),
      }),
      harmless: OF_ONE,
      select: `secretRotation { ${COMMON} ${selectionOf(declared)} } credentialDebts credentialsLeft`,
      variables: ({ params, query }: Data) => ({ input: { id: params.rotationId, type: declared.type, ...query } }),
      reply: ({ deleteSecretRotation: { secretRotation, ...left } }: Data) => ({
        secretRotation: toReply(secretRotation),
        ...left,
      }),
      errors: [...NOT_FOUND, 'ROTATION_RUNNING', 'REVOCATION_GIVEN_UP', ...OUTSIDE],
    }),
    at.post('/{rotationId}/rotate-secrets', `Rotate the credentials of ${title}`, {
      ...operations.rotate,
      operationId: `rotate${noun}`,
      field: 'rotateSecrets',
      select: `secretRotation { ${COMMON} ${selectionOf(declared)} }`,
      show: ({ secretRotation }) => ({ secretRotation: toReply(secretRotation) }),
      errors: [...NOT_FOUND, ...BUSY, 'ROTATION_UNDECIDED', ...OUTSIDE],
    }),
    at.post('/{rotationId}/check-credentials', `Check whether the credential of ${title} works`, {
      operationId: `check${noun}`,
      field: 'checkSecretRotation',
      errors: [...NOT_FOUND, ...OUTSIDE],
    }),
  ];
}

/** Resets a password whose value is unknown. */
const reconcileRoute = (declared: KindDeclaration): Route =>
  routesOf(declared).post(
    '/{rotationId}/reconcile',
    `Reset the password of ${declared.rest.title} with the account of its connection`,
    {
      operationId: `reconcile${typePrefixOf(declared.type)}Rotation`,
      field: 'reconcileSecretRotation',
      reply: ({ reconcileSecretRotation: { secretRotation } }: Data) => ({
        message: 'The password was reset, and the secrets hold it.',
        reconciled: true,
        secretRotation: toReply(secretRotation),
      }),
      errors: [...NOT_FOUND, ...BUSY, 'ROTATION_NOT_RECONCILABLE', ...OUTSIDE],
    },
  );

/** What changes rotations of one type. */
const changeRoutes = (declared: KindDeclaration): Route[] => [
  ...settingRoutes(declared),
  ...outsideRoutes(declared),
  ...(declared.rest.isReset === true ? [reconcileRoute(declared)] : []),
];
