import { powerless, type RestOperation, viewer } from '../operation.js';

const IMPORTS = '/api/v2/secret-imports';
const place = { projectId: '$project', environment: 'dev', path: '/' };
const path = { secretImportId: '$import' };

/** Imports of folders. */
export const imports: readonly RestOperation[] = [
  {
    route: `POST ${IMPORTS}`,
    body: { ...place, import: { environment: 'prod', path: '/' } },
    audit: 'secret-import:create',
    denial: viewer('secret-imports:create'),
  },
  { route: `GET ${IMPORTS}`, query: place, audit: 'secret-import:list', denial: powerless('secret-imports:read') },
  {
    route: `GET ${IMPORTS}/secrets`,
    query: place,
    audit: 'secret:list',
    denial: powerless('secrets:describeSecret'),
  },
  {
    route: `GET ${IMPORTS}/{secretImportId}`,
    path,
    audit: 'secret-import:get',
    denial: powerless('secret-imports:read'),
  },
  {
    route: `PATCH ${IMPORTS}/{secretImportId}`,
    path,
    body: { ...place, import: { environment: 'prod', path: '/', position: 1 } },
    audit: 'secret-import:update',
    denial: viewer('secret-imports:edit'),
  },
  {
    route: `DELETE ${IMPORTS}/{secretImportId}`,
    path,
    body: place,
    audit: 'secret-import:delete',
    denial: viewer('secret-imports:delete'),
  },
];
