import * as z from 'zod';
import { routesAt } from '../../../rest/route.js';
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

const at = routesAt(SECRETS, {
  select: FIELDS,
  as: ['secret', 'secrets'],
  show: toSecret,
  words: { secretName: 'secretKey', newSecretName: 'newSecretKey' },
  errors: PLACE_ERRORS,
});

/** What a new secret names may not be there. */
const CREATING = ['TAG_NOT_FOUND', 'USER_NOT_FOUND', 'SECRET_NOT_FOUND', 'SECRET_KEY_TAKEN'] as const;
/** What a change of keys takes with it. */
const MOVING = ['SECRET_REFERENCED', 'REFERENCES_TOO_LONG', 'CONCURRENT_CHANGE', 'SEALED_VALUE_INVALID'] as const;

/** Routes that change secrets. A secret may have the last word of a path of these as its key: see `chosenBy`. */
export const secretWritingRoutes = [
  at.post('/move', 'Move secrets to another folder or environment, all or nothing', {
    field: 'moveSecrets',
    select: '*',
    show: ({ secretIds }) => ({ isSourceUpdated: true, isDestinationUpdated: true, secretIds }),
    body: Transfer,
    chosenBy: OF_TRANSFERS,
    input: transferOf,
    errors: ['SECRET_NOT_FOUND', 'SECRET_KEY_TAKEN', 'ROTATED_SECRET', ...MOVING],
    example: TRANSFER_EXAMPLE,
  }),
  at.post('/copy', 'Copy secrets to another folder or environment, all or nothing', {
    field: 'copySecrets',
    select: '*',
    show: ({ secretIds }) => ({ secretIds }),
    body: Transfer,
    chosenBy: OF_TRANSFERS,
    input: transferOf,
    errors: ['SECRET_NOT_FOUND', 'SECRET_KEY_TAKEN', 'ROTATED_SECRET', 'SEALED_VALUE_INVALID'],
    example: TRANSFER_EXAMPLE,
  }),
  at.post('/batch', 'Create secrets, all or nothing', {
    sensitive: true,
    field: 'createSecrets',
    body: CreateSecrets,
    chosenBy: ['secrets'],
    errors: CREATING,
    example: { ...EXAMPLE_PLACE, secrets: [{ secretKey: 'DB_PASSWORD', secretValue: 'correct horse' }] },
  }),
  at.patch('/batch', 'Update secrets, all or nothing', {
    sensitive: true,
    field: 'updateSecrets',
    body: UpdateSecrets.extend({ mode, secrets: z.array(ChangeOfBatch).min(1).max(1_000) }),
    chosenBy: ['secrets', 'mode'],
    input: ({ secrets, ...body }) => ({ ...body, secrets: secrets.map(renamed) }),
    errors: [...CREATING, 'ROTATED_SECRET', ...MOVING],
    example: { ...EXAMPLE_PLACE, secrets: [{ secretKey: 'DB_PASSWORD', secretValue: 'battery staple' }] },
  }),
  at.delete('/batch', 'Delete secrets, all or nothing', {
    sensitive: true,
    field: 'deleteSecrets',
    body: DeleteSecrets,
    chosenBy: ['secrets'],
    errors: ['SECRET_NOT_FOUND', 'ROTATED_SECRET', 'SEALED_VALUE_INVALID'],
    example: { ...EXAMPLE_PLACE, secrets: [{ secretKey: 'DB_PASSWORD' }] },
  }),
  at.post('/{secretName}', 'Create a secret', {
    description: 'Requires the permission `secrets:create` at the path.',
    sensitive: true,
    field: 'createSecret',
    body: CreateSecret.omit({ secretKey: true }),
    errors: CREATING,
    example: { ...EXAMPLE_PLACE, secretValue: 'correct horse', secretComment: 'of the shop' },
  }),
  at.patch('/{secretName}', 'Update a secret', {
    description: 'Requires the permission `secrets:edit` at the path.',
    operationId: 'updateSecret',
    about: 'Updates a secret by its key: its key, value, comment, metadata, tags or reminder.',
    sensitive: true,
    field: 'updateSecretByKey',
    body: UpdateSecretByKey.omit({ secretKey: true, newSecretKey: true }).extend({ newSecretName }),
    errors: [...CREATING, 'ROTATED_SECRET', ...MOVING],
    example: { ...EXAMPLE_PLACE, secretValue: 'battery staple' },
  }),
  at.delete('/{secretName}', 'Delete a secret', {
    description: 'Requires the permission `secrets:delete` at the path.',
    operationId: 'deleteSecret',
    about: 'Deletes a secret by its key. Deleted secrets can be restored.',
    sensitive: true,
    field: 'deleteSecretByKey',
    body: DeleteSecretByKey.omit({ secretKey: true }),
    errors: ['SECRET_NOT_FOUND', 'ROTATED_SECRET', 'SEALED_VALUE_INVALID'],
    example: EXAMPLE_PLACE,
  }),
];
