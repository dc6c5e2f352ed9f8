import * as z from 'zod';
import { bodyOf, type Data, paging, routesAt } from '../../../rest/route.js';
import { CreateFolder, DeleteFolderByName, ListFolders, UpdateFolderBody, UpdateFoldersBody } from './folder.rules.js';

/** What is asked for of a folder. */
export const FOLDER_FIELDS =
  'id name path environment: environmentSlug envId: environmentId projectId * -environmentName';
const CHANGE_ERRORS = [
  'PROJECT_NOT_FOUND',
  'ENVIRONMENT_NOT_FOUND',
  'FOLDER_NOT_FOUND',
  'FOLDER_NAME_TAKEN',
  'REFERENCES_TOO_LONG',
  'CONCURRENT_CHANGE',
  'SEALED_VALUE_INVALID',
] as const;

/** A folder that stands alone tells all of its environment. Published clients read it so. */
const withWholeEnvironment = ({ environment, environmentName, ...folder }: Data) => ({
  ...folder,
  environment: { envId: folder.envId, envName: environmentName, envSlug: environment },
});

/** Published clients write it as Python prints it, too. */
const recursive = z
  .enum(['true', 'false', 'True', 'False'])
  .default('false')
  .transform((word) => word.toLowerCase() === 'true');

const AT_A_PLACE = ['PROJECT_NOT_FOUND', 'ENVIRONMENT_NOT_FOUND'] as const;
const EXAMPLE = { projectId: '8a1f5a0e-7a51-4f0a-9f0e-5a3f4f0c2d11', environment: 'dev' };

const at = routesAt('/api/v2/folders', { select: FOLDER_FIELDS });

export const folderRoutes = [
  at.post('', 'Create a folder and its missing parents', {
    field: 'createFolder',
    body: CreateFolder,
    errors: AT_A_PLACE,
    example: { ...EXAMPLE, path: '/', name: 'app' },
  }),
  at.get('', 'List folders', {
    field: 'folders',
    query: ListFolders.omit({ first: true, after: true }).extend({
      recursive: recursive.meta({ description: 'Whether to list all folders below too.' }),
      lastSecretModified: z.iso.datetime({ offset: true }).optional().meta({
        description: 'Only folders in which a secret was created, updated, moved in or deleted at this time or later.',
      }),
      ...paging,
    }),
    cached: true,
    errors: [...AT_A_PLACE, 'FOLDER_NOT_FOUND'],
  }),
  at.get('/{folderId}', 'Get a folder', {
    field: 'folder',
    select: `${FOLDER_FIELDS} environmentName`,
    show: withWholeEnvironment,
    errors: ['FOLDER_NOT_FOUND'],
  }),
  at.patch('/{folderId}', 'Update a folder', {
    field: 'updateFolder',
    body: UpdateFolderBody,
    harmless: { id: 'folderId' },
    input: ({ projectId, environment, path, ...change }) => ({ onlyIn: { projectId, environment, path }, ...change }),
    errors: CHANGE_ERRORS,
    example: { ...EXAMPLE, path: '/', name: 'shop' },
  }),
  at.patch('/batch', 'Update folders, all or nothing', {
    field: 'updateFolders',
    body: UpdateFoldersBody,
    input: ({ projectId, folders }) => ({
      projectId,
      folders: folders.map(({ environment, path, ...change }) => ({ onlyIn: { environment, path }, ...change })),
    }),
    errors: CHANGE_ERRORS,
    example: {
      projectId: EXAMPLE.projectId,
      folders: [{ id: '0d9a1c52-0c1c-4b1f-8a6c-0b9f5f3f7a10', environment: 'dev', name: 'shop' }],
    },
  }),
  at.delete('/{folderId}', 'Delete a folder', {
    operationId: 'deleteFolder',
    about:
      'Deletes a folder by ID, or by name in the folder at `path`. A folder that is not empty is deleted with `forceDelete` only.',
    field: 'deleteFolderByName',
    words: { folderId: 'name' },
    params: z.strictObject({
      folderId: z.string().meta({ description: 'ID of the folder, or its name in the folder at `path`.' }),
    }),
    body: bodyOf(DeleteFolderByName, 'name'),
    harmless: { id: 'folderId' },
    errors: [
      ...AT_A_PLACE,
      ...([
        'FOLDER_NOT_FOUND',
        'FOLDER_NOT_EMPTY',
        'ROTATED_SECRET',
        'FOLDER_IMPORTED',
        'SEALED_VALUE_INVALID',
      ] as const),
    ],
    example: { ...EXAMPLE, path: '/', forceDelete: true },
  }),
];
