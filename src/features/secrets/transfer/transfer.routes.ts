import { queryBoolean, route } from '../../../rest/route.js';
import { unresolvedReferences } from '../scope/header.reply.js';
import { EXAMPLE_PLACE, PLACE_ERRORS, SECRETS } from '../scope/secret.reply.js';
import { ExportSecrets, ImportSecrets } from './transfer.rules.js';

/** Files of secrets, in and out. */
export const transferRoutes = [
  route({
    extension: true,
    method: 'POST',
    path: `${SECRETS}/import`,
    summary: 'Import secrets from a file, all or nothing',
    sensitive: true,
    body: ImportSecrets,
    chosenBy: ['format', 'content'],
    document: `mutation ($input: ImportSecretsInput!) {
      importSecrets(input: $input) {
        secrets { secretKey line outcome previewedValue warnings { reason message } } created changed unchanged skipped dryRun
      }
    }`,
    variables: ({ body }) => ({ input: body }),
    reply: ({ importSecrets }) => importSecrets,
    errors: [...PLACE_ERRORS, 'SECRET_KEY_TAKEN', 'ROTATED_SECRET', 'CONCURRENT_CHANGE', 'SEALED_VALUE_INVALID'],
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
    summary: 'Export the secrets of a folder as a file',
    sensitive: true,
    query: ExportSecrets.omit({ includeImports: true }).extend({
      expandSecretReferences: queryBoolean(false),
      include_imports: queryBoolean(false).meta({ description: 'Whether to include imported secrets.' }),
      includeComments: queryBoolean(false),
    }),
    chosenBy: ['format', 'includeComments'],
    document: `query ($projectId: ID!, $environment: String!, $secretPath: String!, $format: SecretFileFormat!,
        $expandSecretReferences: Boolean!, $includeImports: Boolean!, $includeComments: Boolean!) {
      exportSecrets(projectId: $projectId, environment: $environment, secretPath: $secretPath, format: $format,
        expandSecretReferences: $expandSecretReferences, includeImports: $includeImports, includeComments: $includeComments) {
        content count omitted unresolvedReferences
      }
    }`,
    variables: ({ query: { include_imports, ...query } }) => ({ ...query, includeImports: include_imports }),
    reply: ({ exportSecrets: { unresolvedReferences: _header, ...file } }) => file,
    headers: [unresolvedReferences(({ exportSecrets }) => exportSecrets.unresolvedReferences)],
    errors: PLACE_ERRORS,
  }),
];
