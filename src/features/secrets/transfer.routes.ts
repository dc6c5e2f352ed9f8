import { z } from 'zod';
import { queryBoolean, route } from '../../rest/route.js';
import { EXAMPLE_PLACE, PLACE_ERRORS, SECRETS } from './secret-reply.js';
import { ExportSecrets, ImportSecrets } from './transfer.rules.js';

/** Files of secrets, in and out. */
export const transferRoutes = [
  route({
    extension: true,
    method: 'POST',
    path: `${SECRETS}/import`,
    summary: 'Import secrets from a file, all or none',
    body: ImportSecrets,
    document: `mutation ($input: ImportSecretsInput!) {
      importSecrets(input: $input) { secrets { secretKey line outcome } created changed unchanged skipped dryRun }
    }`,
    variables: ({ body }) => ({ input: body }),
    reply: ({ importSecrets }) => importSecrets,
    errors: [...PLACE_ERRORS, 'SECRET_KEY_TAKEN', 'CONCURRENT_CHANGE'],
    example: {
      ...EXAMPLE_PLACE,
      format: 'dotenv',
      content: '# of the shop\nDB_PASSWORD="correct horse"\n',
      mode: 'create-only',
      dryRun: true,
    },
  }),
  route({
    extension: true,
    method: 'GET',
    path: `${SECRETS}/export`,
    summary: 'Export the secrets of a folder as a file. A secret with the key `export` is had by its id',
    sensitive: true,
    query: z.strictObject({
      ...ExportSecrets.shape,
      includeComments: queryBoolean(false).meta({ description: 'Comments of secrets as lines above them.' }),
    }),
    document: `query ($projectId: ID!, $environment: String!, $secretPath: String!, $format: SecretFileFormat!, $includeComments: Boolean!) {
      exportSecrets(projectId: $projectId, environment: $environment, secretPath: $secretPath, format: $format,
        includeComments: $includeComments) { content count omitted }
    }`,
    variables: ({ query }) => query,
    reply: ({ exportSecrets }) => exportSecrets,
    errors: PLACE_ERRORS,
  }),
];
