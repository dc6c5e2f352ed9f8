import * as z from 'zod';
import { route } from '../../../rest/route.js';
import { secretKey } from '../core/secret.rules.js';
import { secretLocation } from '../scope/location.rules.js';
import { EXAMPLE_PLACE, FIELDS, PLACE_ERRORS, SECRETS, toSecret } from '../scope/secret.reply.js';
import {
  CreateSecret,
  CreateSecrets,
  DeleteSecretByKey,
  DeleteSecrets,
  SecretChangeOfBatch,
  TransferSecrets,
  UpdateSecretByKey,
  UpdateSecrets,
  updateMode,
} from './secret-writing.rules.js';

/** `newSecretName` is the interface's word for a new key. Absent it stays absent: null would be a fault. */
const renamed = <T extends { newSecretName?: string | undefined }>({ newSecretName, ...change }: T) => ({
  ...change,
  ...(newSecretName === undefined ? {} : { newSecretKey: newSecretName }),
});

const newSecretName = secretKey.optional().meta({ description: 'New key. References in shared values are updated.' });
const ChangeOfBatch = SecretChangeOfBatch.omit({ newSecretKey: true }).extend({ newSecretName });

/** Existing clients have a word of their own for `fail`. */
const FAIL_ON_NOT_FOUND = 'failOnNotFound';
const mode = z
  .enum([...updateMode.options, FAIL_ON_NOT_FOUND])
  .default('fail')
  .transform((word) => (word === FAIL_ON_NOT_FOUND ? 'fail' : word))
  .meta({ description: 'What to do when a secret does not exist. `failOnNotFound` is the same as `fail`.' });

/** The secrets of a batch in the words of GraphQL. */
const typed = <T extends { type: string }>({ type, ...secret }: T) => ({ ...secret, type: type.toUpperCase() });
const ofBatch = ({ secrets, ...body }: { secrets: readonly { type: string }[] }) => ({
  input: { ...body, secrets: secrets.map(typed) },
});

/** A move or copy in the words of the interface. */
const Transfer = TransferSecrets.omit({ source: true, destination: true }).extend({
  sourceEnvironment: secretLocation.environment,
  sourceSecretPath: secretLocation.secretPath,
  destinationEnvironment: secretLocation.environment,
  destinationSecretPath: secretLocation.secretPath,
});

const transferOf = ({
  sourceEnvironment,
  sourceSecretPath,
  destinationEnvironment,
  destinationSecretPath,
  ...body
}: z.output<typeof Transfer>) => ({
  ...body,
  source: { environment: sourceEnvironment, secretPath: sourceSecretPath },
  destination: { environment: destinationEnvironment, secretPath: destinationSecretPath },
});

const TRANSFER_EXAMPLE = {
  projectId: EXAMPLE_PLACE.projectId,
  sourceEnvironment: 'dev',
  sourceSecretPath: '/',
  destinationEnvironment: 'prod',
  destinationSecretPath: '/',
  secretIds: ['0d3c2a52-6f4b-4f43-a3a5-4b8f0a1c2d3e'],
  shouldOverwrite: false,
};

/** Tells a transfer from a new secret with the key `move` or `copy`. */
const OF_TRANSFERS = ['secretIds', 'sourceEnvironment', 'destinationEnvironment'];

/** Routes that change secrets. A secret may have the last word of a path of these as its key: see `chosenBy`. */
export const secretWritingRoutes = [
  route({
    extension: true,
    method: 'POST',
    path: `${SECRETS}/move`,
    summary: 'Move secrets to another folder or environment, all or nothing',
    body: Transfer,
    chosenBy: OF_TRANSFERS,
    document: `mutation ($input: MoveSecretsInput!) { moveSecrets(input: $input) { secretIds replacedSecretIds rewritten } }`,
    variables: ({ body }) => ({ input: transferOf(body) }),
    reply: ({ moveSecrets: { secretIds } }) => ({ isSourceUpdated: true, isDestinationUpdated: true, secretIds }),
    errors: [
      ...PLACE_ERRORS,
      'SECRET_NOT_FOUND',
      'SECRET_KEY_TAKEN',
      'ROTATED_SECRET',
      'SECRET_REFERENCED',
      'REFERENCES_TOO_LONG',
      'CONCURRENT_CHANGE',
      'SEALED_VALUE_INVALID',
    ],
    example: TRANSFER_EXAMPLE,
  }),
  route({
    extension: true,
    method: 'POST',
    path: `${SECRETS}/copy`,
    summary: 'Copy secrets to another folder or environment, all or nothing',
    body: Transfer,
    chosenBy: OF_TRANSFERS,
    document: `mutation ($input: CopySecretsInput!) { copySecrets(input: $input) { secretIds replacedSecretIds } }`,
    variables: ({ body }) => ({ input: transferOf(body) }),
    reply: ({ copySecrets: { secretIds } }) => ({ secretIds }),
    errors: [...PLACE_ERRORS, 'SECRET_NOT_FOUND', 'SECRET_KEY_TAKEN', 'ROTATED_SECRET', 'SEALED_VALUE_INVALID'],
    example: TRANSFER_EXAMPLE,
  }),
  route({
    extension: true,
    method: 'POST',
    path: `${SECRETS}/batch`,
    summary: 'Create secrets, all or nothing',
    sensitive: true,
    body: CreateSecrets,
    chosenBy: ['secrets'],
    document: `mutation ($input: CreateSecretsInput!) { createSecrets(input: $input) { secrets { ${FIELDS} } } }`,
    variables: ({ body }) => ofBatch(body),
    reply: ({ createSecrets }) => ({ secrets: createSecrets.secrets.map(toSecret) }),
    errors: [...PLACE_ERRORS, 'TAG_NOT_FOUND', 'USER_NOT_FOUND', 'SECRET_NOT_FOUND', 'SECRET_KEY_TAKEN'],
    example: { ...EXAMPLE_PLACE, secrets: [{ secretKey: 'DB_PASSWORD', secretValue: 'correct horse' }] },
  }),
  route({
    extension: true,
    method: 'PATCH',
    path: `${SECRETS}/batch`,
    summary: 'Update secrets, all or nothing',
    sensitive: true,
    body: UpdateSecrets.extend({ mode, secrets: z.array(ChangeOfBatch).min(1).max(1_000) }),
    chosenBy: ['secrets', 'mode'],
    document: `mutation ($input: UpdateSecretsInput!) { updateSecrets(input: $input) { secrets { ${FIELDS} } } }`,
    variables: ({ body: { secrets, mode, ...body } }) => ({
      input: { ...body, mode: mode.toUpperCase(), secrets: secrets.map((secret) => typed(renamed(secret))) },
    }),
    reply: ({ updateSecrets }) => ({ secrets: updateSecrets.secrets.map(toSecret) }),
    errors: [
      ...PLACE_ERRORS,
      'TAG_NOT_FOUND',
      'USER_NOT_FOUND',
      'SECRET_NOT_FOUND',
      'SECRET_KEY_TAKEN',
      'ROTATED_SECRET',
      'SECRET_REFERENCED',
      'REFERENCES_TOO_LONG',
      'CONCURRENT_CHANGE',
      'SEALED_VALUE_INVALID',
    ],
    example: { ...EXAMPLE_PLACE, secrets: [{ secretKey: 'DB_PASSWORD', secretValue: 'battery staple' }] },
  }),
  route({
    extension: true,
    method: 'DELETE',
    path: `${SECRETS}/batch`,
    summary: 'Delete secrets, all or nothing',
    sensitive: true,
    body: DeleteSecrets,
    chosenBy: ['secrets'],
    document: `mutation ($input: DeleteSecretsInput!) { deleteSecrets(input: $input) { secrets { ${FIELDS} } } }`,
    variables: ({ body }) => ofBatch(body),
    reply: ({ deleteSecrets }) => ({ secrets: deleteSecrets.secrets.map(toSecret) }),
    errors: [...PLACE_ERRORS, 'SECRET_NOT_FOUND', 'ROTATED_SECRET', 'SEALED_VALUE_INVALID'],
    example: { ...EXAMPLE_PLACE, secrets: [{ secretKey: 'DB_PASSWORD' }] },
  }),
  route({
    extension: true,
    method: 'POST',
    path: `${SECRETS}/{secretName}`,
    summary: 'Create a secret',
    description: 'Requires the permission `secrets:create` at the path.',
    sensitive: true,
    body: CreateSecret.omit({ secretKey: true }),
    document: `mutation ($input: CreateSecretInput!) { createSecret(input: $input) { secret { ${FIELDS} } } }`,
    variables: ({ params, body: { type, ...body } }) => ({
      input: { secretKey: params.secretName, type: type.toUpperCase(), ...body },
    }),
    reply: ({ createSecret }) => ({ secret: toSecret(createSecret.secret) }),
    errors: [...PLACE_ERRORS, 'TAG_NOT_FOUND', 'USER_NOT_FOUND', 'SECRET_NOT_FOUND', 'SECRET_KEY_TAKEN'],
    example: { ...EXAMPLE_PLACE, secretValue: 'correct horse', secretComment: 'of the shop' },
  }),
  route({
    extension: true,
    method: 'PATCH',
    path: `${SECRETS}/{secretName}`,
    summary: 'Update a secret',
    description: 'Requires the permission `secrets:edit` at the path.',
    operationId: 'updateSecret',
    about: 'Updates a secret by its key: its key, value, comment, metadata, tags or reminder.',
    sensitive: true,
    body: UpdateSecretByKey.omit({ secretKey: true, newSecretKey: true }).extend({ newSecretName }),
    document: `mutation ($input: UpdateSecretByKeyInput!) { updateSecretByKey(input: $input) { secret { ${FIELDS} } } }`,
    variables: ({ params, body: { type, ...body } }) => ({
      input: { secretKey: params.secretName, type: type.toUpperCase(), ...renamed(body) },
    }),
    reply: ({ updateSecretByKey }) => ({ secret: toSecret(updateSecretByKey.secret) }),
    errors: [
      ...PLACE_ERRORS,
      'TAG_NOT_FOUND',
      'USER_NOT_FOUND',
      'SECRET_NOT_FOUND',
      'SECRET_KEY_TAKEN',
      'ROTATED_SECRET',
      'SECRET_REFERENCED',
      'REFERENCES_TOO_LONG',
      'CONCURRENT_CHANGE',
      'SEALED_VALUE_INVALID',
    ],
    example: { ...EXAMPLE_PLACE, secretValue: 'battery staple' },
  }),
  route({
    extension: true,
    method: 'DELETE',
    path: `${SECRETS}/{secretName}`,
    summary: 'Delete a secret',
    description: 'Requires the permission `secrets:delete` at the path.',
    operationId: 'deleteSecret',
    about: 'Deletes a secret by its key. Deleted secrets can be restored.',
    sensitive: true,
    body: DeleteSecretByKey.omit({ secretKey: true }),
    document: `mutation ($input: DeleteSecretByKeyInput!) { deleteSecretByKey(input: $input) { secret { ${FIELDS} } } }`,
    variables: ({ params, body: { type, ...body } }) => ({
      input: { secretKey: params.secretName, type: type.toUpperCase(), ...body },
    }),
    reply: ({ deleteSecretByKey }) => ({ secret: toSecret(deleteSecretByKey.secret) }),
    errors: [...PLACE_ERRORS, 'SECRET_NOT_FOUND', 'ROTATED_SECRET', 'SEALED_VALUE_INVALID'],
    example: EXAMPLE_PLACE,
  }),
];
