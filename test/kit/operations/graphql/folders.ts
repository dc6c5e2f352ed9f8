import { CANARY } from '../../world.js';
import { type GraphQLOperation, powerless, viewer } from '../operation.js';

const place = { projectId: '$project', environment: 'dev' };

/** Folders. */
export const folders: readonly GraphQLOperation[] = [
  { field: 'folders', args: place, audit: 'folder:list', denial: powerless('secret-folders:read') },
  { field: 'folder', args: { id: '$folder' }, audit: 'folder:get', denial: powerless('secret-folders:read') },
  {
    field: 'folderByPath',
    args: { ...place, path: '/' },
    audit: 'folder:get',
    denial: powerless('secret-folders:read'),
  },
  { field: 'folderTree', args: place, audit: 'folder:list', denial: powerless('secret-folders:read') },
  {
    field: 'createFolder',
    args: { ...place, name: 'app', description: CANARY },
    audit: 'folder:create',
    denial: viewer('secret-folders:create'),
  },
  {
    field: 'updateFolder',
    args: { id: '$folder', description: CANARY },
    audit: 'folder:update',
    denial: viewer('secret-folders:edit'),
  },
  {
    field: 'updateFolders',
    args: { projectId: '$project', folders: [{ id: '$folder', description: CANARY }] },
    audit: 'folder:update',
    denial: viewer('secret-folders:edit'),
  },
  {
    field: 'deleteFolder',
    args: { id: '$folder' },
    audit: 'folder:delete',
    denial: viewer('secret-folders:delete'),
  },
  {
    field: 'deleteFolderByName',
    args: { ...place, name: '$folder' },
    audit: 'folder:delete',
    denial: viewer('secret-folders:delete'),
  },
];
