import { CANARY } from '../../world.js';
import { powerless, type RestOperation, viewer } from '../operation.js';

const place = { projectId: '$project', environment: 'dev' };

/** Folders. */
export const folders: readonly RestOperation[] = [
  {
    route: 'POST /api/v2/folders',
    body: { ...place, name: 'app', description: CANARY },
    audit: 'folder:create',
    denial: viewer('secret-folders:create'),
  },
  {
    route: 'GET /api/v2/folders',
    query: { ...place, path: '/' },
    audit: 'folder:list',
    denial: powerless('secret-folders:read'),
  },
  {
    route: 'GET /api/v2/folders/{folderId}',
    path: { folderId: '$folder' },
    audit: 'folder:get',
    denial: powerless('secret-folders:read'),
  },
  {
    route: 'PATCH /api/v2/folders/{folderId}',
    path: { folderId: '$folder' },
    body: { ...place, name: 'shop' },
    audit: 'folder:update',
    denial: viewer('secret-folders:edit'),
  },
  {
    route: 'PATCH /api/v2/folders/batch',
    body: {
      projectId: '$project',
      folders: [{ id: '$folder', environment: 'dev', name: 'shop', description: CANARY }],
    },
    audit: 'folder:update',
    denial: viewer('secret-folders:edit'),
  },
  {
    route: 'DELETE /api/v2/folders/{folderId}',
    path: { folderId: '$folder' },
    body: { ...place, forceDelete: true },
    audit: 'folder:delete',
    denial: viewer('secret-folders:delete'),
  },
];
