import * as z from 'zod';
import { bodyOf, route } from '../../../rest/route.js';
import { EXAMPLE_PLACE, FIELDS, PLACE_ERRORS, toSecret } from '../scope/secret.reply.js';
import { HISTORY } from '../versions/version.routes.js';
import { RestoreSecret } from '../versions/version.rules.js';
import { RestoreSecrets } from './restore.rules.js';

const NAME = '{ secretPath secretKey }';

/** A moment as text: GraphQL makes a date of it. */
const moment = z.iso.datetime({ offset: true }).max(40);

export const restoreRoutes = [
  route({
    extension: true,
    method: 'POST',
    path: `${HISTORY}/{secretId}/restore`,
    summary: 'Restore a version of a secret',
    sensitive: true,
    body: bodyOf(RestoreSecret, 'id'),
    document: `mutation ($input: RestoreSecretInput!) {
      restoreSecret(input: $input) { secret { ${FIELDS} } leftOutTagIds }
    }`,
    variables: ({ params, body }) => ({ input: { id: params.secretId, ...body } }),
    reply: ({ restoreSecret: { secret, leftOutTagIds } }) => ({ secret: toSecret(secret), leftOutTagIds }),
    errors: [
      'SECRET_NOT_FOUND',
      'SECRET_VERSION_NOT_FOUND',
      'FOLDER_NOT_FOUND',
      'SECRET_KEY_TAKEN',
      'ROTATED_SECRET',
      'SECRET_REFERENCED',
      'REFERENCES_TOO_LONG',
      'CONCURRENT_CHANGE',
      'SEALED_VALUE_INVALID',
    ],
    example: { version: 3 },
  }),
  route({
    extension: true,
    method: 'POST',
    path: `${HISTORY}/restore`,
    summary: 'Restore a folder or an environment to a point in time, all or nothing',
    body: RestoreSecrets.extend({ at: moment }),
    document: `mutation ($input: RestoreSecretsInput!) {
      restoreSecrets(input: $input) {
        created ${NAME} changed ${NAME} deleted ${NAME} createdFolders leftOutTagIds
      }
    }`,
    variables: ({ body }) => ({ input: body }),
    reply: ({ restoreSecrets }) => restoreSecrets,
    errors: [
      ...PLACE_ERRORS,
      'HISTORY_TOO_SHORT',
      'SECRET_KEY_TAKEN',
      'ROTATED_SECRET',
      'SECRET_REFERENCED',
      'REFERENCES_TOO_LONG',
      'CONCURRENT_CHANGE',
      'SEALED_VALUE_INVALID',
    ],
    example: { ...EXAMPLE_PLACE, recursive: true, at: '2026-01-31T12:00:00Z', dryRun: true },
  }),
];
