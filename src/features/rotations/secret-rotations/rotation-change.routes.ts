import * as z from 'zod';
import { bodyOf, type Data, queryBoolean, type Route, routesAt } from '../../../rest/route.js';
import { fieldOf, type KindDeclaration, typePrefixOf } from './kind/kind-declaration.js';
import { CreateRotation, MoveRotation, UpdateRotation } from './rotation.rules.js';
import { COMMON, DEBT, PATH, selectionOf, toReply } from './rotation-selection.js';

const NOT_FOUND = ['SECRET_ROTATION_NOT_FOUND'] as const;
const OUTSIDE = ['UPSTREAM_REJECTED', 'UPSTREAM_UNREACHABLE', 'ROTATION_CONTINUES', 'ROTATION_CANCELLED'] as const;
const BUSY = ['ROTATION_RUNNING', 'ROTATION_DELETING'] as const;
const AT_A_PLACE = ['ENVIRONMENT_NOT_FOUND', 'FOLDER_NOT_FOUND', 'SECRET_KEY_TAKEN'] as const;

/** Clients repeat in the body what the path names. */
const OF_TYPE = { Provider: null };
const OF_ONE = { ...OF_TYPE, ID: 'rotationId' };

const routesOf = (declared: KindDeclaration) =>
  routesAt(`${PATH}/${declared.type}`, { select: `${COMMON} ${selectionOf(declared)}` });

/** The reply of a mutation that returns the rotation. */
const replyOf = (field: string) => ({
  reply: ({ [field]: { secretRotation } }: Data) => ({ secretRotation: toReply(secretRotation) }),
});

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
  const { type, content, rest } = declared;
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
      variables: ({ body }: Data) => ({ input: { ...withoutContent(body), ...contentOf(declared, body) } }),
      ...replyOf('createSecretRotation'),
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
      variables: ({ params, body }: Data) => ({
        input: { id: params.rotationId, type, ...withoutContent(body), ...contentOf(declared, body) },
      }),
      ifMatch: ({ secretRotation }) => ({ expectedVersion: secretRotation.version }),
      ...replyOf('updateSecretRotation'),
      errors: [...NOT_FOUND, ...BUSY, 'SECRET_ROTATION_NAME_TAKEN', 'SECRET_KEY_TAKEN', 'CONCURRENT_CHANGE'],
      example: { rotationInterval: 14 } as never,
    }),
    at.post('/{rotationId}/move', `Move ${title} with its secrets`, {
      operationId: `move${noun}`,
      field: 'moveSecretRotation',
      body: bodyOf(MoveRotation, 'id', 'type'),
      variables: ({ params, body }: Data) => ({ input: { id: params.rotationId, type, ...body } }),
      ...replyOf('moveSecretRotation'),
      errors: [...NOT_FOUND, ...BUSY, ...AT_A_PLACE, 'SECRET_ROTATION_NAME_TAKEN', 'ROTATED_SECRET'],
      example: { destinationEnvironment: 'prod', destinationSecretPath: '/payments' } as never,
    }),
  ];
}

/** What reaches the external system by rotations of one type. */
function outsideRoutes(declared: KindDeclaration): Route[] {
  const { type, rest } = declared;
  const { title, operations } = rest;
  const noun = `${typePrefixOf(declared.type)}Rotation`;
  const at = routesOf(declared);
  const variables = ({ params }: Data) => ({ input: { id: params.rotationId, type } });
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
      select: `secretRotation { ${COMMON} ${selectionOf(declared)} } credentialDebts { ${DEBT} } credentialsLeft`,
      variables: ({ params, query }: Data) => ({ input: { id: params.rotationId, type, ...query } }),
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
      variables,
      ...replyOf('rotateSecrets'),
      errors: [...NOT_FOUND, ...BUSY, 'ROTATION_UNDECIDED', ...OUTSIDE],
    }),
    at.post('/{rotationId}/check-credentials', `Check whether the credential of ${title} works`, {
      operationId: `check${noun}`,
      field: 'checkSecretRotation',
      variables,
      ...replyOf('checkSecretRotation'),
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
      variables: ({ params }: Data) => ({ input: { id: params.rotationId, type: declared.type } }),
      reply: ({ reconcileSecretRotation: { secretRotation } }: Data) => ({
        message: 'The password was reset, and the secrets hold it.',
        reconciled: true,
        secretRotation: toReply(secretRotation),
      }),
      errors: [...NOT_FOUND, ...BUSY, 'ROTATION_NOT_RECONCILABLE', ...OUTSIDE],
    },
  );

/** What changes rotations of one type. */
export const changeRoutes = (declared: KindDeclaration): Route[] => [
  ...settingRoutes(declared),
  ...outsideRoutes(declared),
  ...(declared.rest.isReset === true ? [reconcileRoute(declared)] : []),
];
