import * as z from 'zod';
import { type Data, nextCursor, paging, queryBoolean, route } from '../../../rest/route.js';
import { IMPORTED, PLACE_ERRORS, toImported, unreadableValues, unresolvedReferences } from '../scope/secret.reply.js';
import { ImportChange, ImportLocation, ImportSource, importing } from './import.rules.js';

const FIELDS = `id position projectId createdAt updatedAt folder { folderId path environmentId environment: environmentSlug environmentName }
  source { folderId path environmentId environment: environmentSlug environmentName }`;

/** An import in the words of the clients that exist. */
const toImport = ({ folder, source, ...secretImport }: Data) => ({
  ...secretImport,
  folderId: folder.folderId,
  environment: folder.environment,
  path: folder.path,
  importPath: source.path,
  importEnv: { id: source.environmentId, name: source.environmentName, slug: source.environment },
  importFolderId: source.folderId,
  isReplication: false,
});

/** The same as older clients read one import: its environment is an object, like that of its source. */
export const toOlderImport = ({ secretImport }: Data) => {
  const { folder } = secretImport;
  return {
    secretImport: {
      ...toImport(secretImport),
      environment: { id: folder.environmentId, name: folder.environmentName, slug: folder.environment },
      secretPath: folder.path,
    },
  };
};

const mutation = (verb: 'create' | 'update' | 'delete'): string => {
  const name = `${verb}SecretImport`;
  const input = `${verb.charAt(0).toUpperCase()}${verb.slice(1)}SecretImportInput`;
  return `mutation ($input: ${input}!) { ${name}(input: $input) { secretImport { ${FIELDS} } } }`;
};

const done = (message: string, { secretImport }: Data) => ({ message, secretImport: toImport(secretImport) });

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
const IMPORT = `${IMPORTS}/{secretImportId}`;

export const importRoutes = [
  route({
    extension: true,
    method: 'POST',
    path: IMPORTS,
    summary: 'Create a secret import',
    body: z.strictObject({ ...importing, import: ImportSource, isReplication }),
    document: mutation('create'),
    variables: ({ body: { projectId, environment, path, import: source } }) => ({
      input: { projectId, environment, path, sourceEnvironment: source.environment, sourcePath: source.path },
    }),
    reply: ({ createSecretImport }) => done('The import was created.', createSecretImport),
    errors: [...PLACE_ERRORS, 'IMPORT_EXISTS', 'IMPORT_CYCLE'],
    example: { ...EXAMPLE, import: { environment: 'dev', path: '/shared' } },
  }),
  route({
    extension: true,
    method: 'GET',
    path: IMPORTS,
    summary: 'List secret imports',
    query: z.strictObject({ ...importing, ...paging }),
    document: `query ($projectId: ID!, $environment: String!, $path: String!, $first: Int, $after: String) {
      secretImports(projectId: $projectId, environment: $environment, path: $path, first: $first, after: $after) {
        nodes { ${FIELDS} } pageInfo { hasNextPage endCursor }
      }
    }`,
    variables: ({ query: { limit, cursor, ...query } }) => ({ ...query, first: limit, after: cursor }),
    reply: ({ secretImports }) => ({
      message: 'The imports were read.',
      secretImports: secretImports.nodes.map(toImport),
      ...nextCursor(secretImports.pageInfo),
    }),
    cached: true,
    errors: PLACE_ERRORS,
  }),
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
  route({
    extension: true,
    method: 'GET',
    path: IMPORT,
    summary: 'Get a secret import',
    document: `query ($id: ID!) { secretImport(id: $id) { ${FIELDS} } }`,
    variables: ({ params }) => ({ id: params.secretImportId }),
    reply: ({ secretImport }) => ({ secretImport: toImport(secretImport) }),
    errors: ['IMPORT_NOT_FOUND'],
  }),
  route({
    extension: true,
    method: 'PATCH',
    path: IMPORT,
    summary: 'Update a secret import',
    body: z.strictObject({ ...importing, import: ImportChange, isReplication }),
    harmless: { id: 'secretImportId' },
    document: mutation('update'),
    variables: ({ params, body: { import: change, isReplication: _, ...onlyIn } }) => {
      const { environment: sourceEnvironment, path: sourcePath, position } = change;
      const changes = Object.entries({ sourceEnvironment, sourcePath, position });
      // Absent stays absent: null would be a fault.
      const given = Object.fromEntries(changes.filter(([, value]) => value !== undefined));
      return { input: { id: params.secretImportId, onlyIn, ...given } };
    },
    reply: ({ updateSecretImport }) => done('The import was updated.', updateSecretImport),
    errors: [...PLACE_ERRORS, 'IMPORT_NOT_FOUND', 'IMPORT_EXISTS', 'IMPORT_CYCLE'],
    example: { ...EXAMPLE, import: { position: 1 } },
  }),
  route({
    extension: true,
    method: 'DELETE',
    path: IMPORT,
    summary: 'Delete a secret import',
    body: ImportLocation,
    harmless: { id: 'secretImportId' },
    document: mutation('delete'),
    variables: ({ params, body }) => ({ input: { id: params.secretImportId, onlyIn: body } }),
    reply: ({ deleteSecretImport }) => done('The import was deleted.', deleteSecretImport),
    errors: [...PLACE_ERRORS, 'IMPORT_NOT_FOUND'],
    example: EXAMPLE,
  }),
];
