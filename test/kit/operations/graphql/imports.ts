import { type GraphQLOperation, powerless, viewer } from '../operation.js';

const place = { projectId: '$project', environment: 'dev' };

/** Imports of folders. */
export const imports: readonly GraphQLOperation[] = [
  { field: 'secretImports', args: place, audit: 'secret-import:list', denial: powerless('secret-imports:read') },
  {
    field: 'secretImport',
    args: { id: '$import' },
    audit: 'secret-import:get',
    denial: powerless('secret-imports:read'),
  },
  {
    field: 'createSecretImport',
    args: { ...place, sourceEnvironment: 'prod' },
    audit: 'secret-import:create',
    denial: viewer('secret-imports:create'),
  },
  {
    field: 'updateSecretImport',
    args: { id: '$import', sourceEnvironment: 'prod' },
    audit: 'secret-import:update',
    denial: viewer('secret-imports:edit'),
  },
  {
    field: 'deleteSecretImport',
    args: { id: '$import' },
    audit: 'secret-import:delete',
    denial: viewer('secret-imports:delete'),
  },
];
