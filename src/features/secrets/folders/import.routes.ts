import * as z from 'zod';
import { type Data, nextCursor, paging, queryBoolean, route, routesAt } from '../../../rest/route.js';
import { IMPORTED, PLACE_ERRORS, toImported, unreadableValues, unresolvedReferences } from '../scope/secret.reply.js';
import { ImportChange, ImportLocation, ImportSource, importing } from './import.rules.js';

/** An import in the words of the clients that exist. */
const toImport = ({ folder, source, ...secretImport }: Data) => ({
  ...secretImport,
  folderId: folder.folderId,
  environment: folder.environmentSlug,
  path: folder.path,
  importPath: source.path,
  importEnv: { id: source.environmentId, name: source.environmentName, slug: source.environmentSlug },
  importFolderId: source.folderId,
  isReplication: false,
});

/** The same as older clients read one import: its environment is an object, like that of its source. */
export const toOlderImport = (secretImport: Data) => {
  const { folder } = secretImport;
  return {
    ...toImport(secretImport),
    environment: { id: folder.environmentId, name: folder.environmentName, slug: folder.environmentSlug },
    secretPath: folder.path,
  };
};

const done = (message: string) => ({
  reply: (data: Data) => ({ message, secretImport: toImport((Object.values(data)[0] as Data).secretImport) }),
});

/** Copies that are kept in step are not offered: an import is always read through. */
const isReplication = z
  .boolean()
  .refine((isCopied) => !isCopied, {
    params: { code: 'NOT_SUPPORTED_YET' },
    error: 'must be false: an import is always read through',
  })
  .optional()
  .meta({ description: 'Only `false` is supported: an import is always read live.' });

const EXAMPLE = { projectId: '8a1f5a0e-7a51-4f0a-9f0e-5a3f4f0c2d11', environment: 'dev', path: '/app' };
const IMPORTS = '/api/v2/secret-imports';

const at = routesAt(IMPORTS, { select: 'id position projectId createdAt updatedAt *', show: toImport });

export const importRoutes = [
  at.post('', 'Create a secret import', {
    field: 'createSecretImport',
    body: z.strictObject({ ...importing, import: ImportSource, isReplication }),
    input: ({ projectId, environment, path, import: source }) => ({
      ...{ projectId, environment, path },
      ...{ sourceEnvironment: source.environment, sourcePath: source.path },
    }),
    ...done('The import was created.'),
    errors: [...PLACE_ERRORS, 'IMPORT_EXISTS', 'IMPORT_CYCLE'],
    example: { ...EXAMPLE, import: { environment: 'dev', path: '/shared' } },
  }),
  at.get('', 'List secret imports', {
    field: 'secretImports',
    query: z.strictObject({ ...importing, ...paging }),
    reply: ({ secretImports }) => ({
      message: 'The imports were read.',
      secretImports: secretImports.nodes.map(toImport),
      ...nextCursor(secretImports.pageInfo),
    }),
    cached: true,
    errors: PLACE_ERRORS,
  }),
  // Without the rows of the list: it asks for what is imported only.
  route({
    extension: true,
    method: 'GET',
    path: `${IMPORTS}/secrets`,
    summary: 'List the secrets that a folder imports',
    operationId: 'listImportedSecrets',
    sensitive: true,
    query: z.strictObject({
      ...importing,
      viewSecretValue: queryBoolean(true),
      expandSecretReferences: queryBoolean(false).meta({ description: 'Whether to expand references in values.' }),
    }),
    cached: true,
    document: `query ($projectId: ID!, $environment: String!, $secretPath: String!, $viewSecretValue: Boolean!,
        $expandSecretReferences: Boolean!) {
      secrets(projectId: $projectId, environment: $environment, secretPath: $secretPath, viewSecretValue: $viewSecretValue,
          expandSecretReferences: $expandSecretReferences, includeImports: true) {
        imports { ${IMPORTED} } unresolvedReferences readIssues { secretId }
      }
    }`,
    variables: ({ query: { path, ...query } }) => ({ ...query, secretPath: path }),
    reply: ({ secrets }) => ({ secrets: secrets.imports.map(toImported) }),
    headers: [
      unreadableValues(({ secrets }) => secrets.readIssues.length),
      unresolvedReferences(({ secrets }) => secrets.unresolvedReferences),
    ],
    errors: PLACE_ERRORS,
  }),
  at.get('/{secretImportId}', 'Get a secret import', { field: 'secretImport', errors: ['IMPORT_NOT_FOUND'] }),
  at.patch('/{secretImportId}', 'Update a secret import', {
    field: 'updateSecretImport',
    body: z.strictObject({ ...importing, import: ImportChange, isReplication }),
    harmless: { id: 'secretImportId' },
    input: ({ import: change, isReplication: _, ...onlyIn }) => {
      const { environment: sourceEnvironment, path: sourcePath, position } = change;
      const changes = Object.entries({ sourceEnvironment, sourcePath, position });
      // Absent stays absent: null would be a fault.
      return { onlyIn, ...Object.fromEntries(changes.filter(([, value]) => value !== undefined)) };
    },
    ...done('The import was updated.'),
    errors: [...PLACE_ERRORS, 'IMPORT_NOT_FOUND', 'IMPORT_EXISTS', 'IMPORT_CYCLE'],
    example: { ...EXAMPLE, import: { position: 1 } },
  }),
  at.delete('/{secretImportId}', 'Delete a secret import', {
    field: 'deleteSecretImport',
    body: ImportLocation,
    harmless: { id: 'secretImportId' },
    input: (onlyIn) => ({ onlyIn }),
    ...done('The import was deleted.'),
    errors: [...PLACE_ERRORS, 'IMPORT_NOT_FOUND'],
    example: EXAMPLE,
  }),
];
