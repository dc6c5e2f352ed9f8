import * as z from 'zod';
import { bodyOf, type Data, nextCursor, paging, route } from '../../../rest/route.js';
import { CreateFolder, DeleteFolderByName, ListFolders, UpdateFolderBody, UpdateFoldersBody } from './folder.rules.js';

/** Fields of a folder. */
export const FOLDER_FIELDS =
  'id name path environment: environmentSlug envId: environmentId projectId parentId description version createdAt updatedAt';
const FOLDERS = '/api/v2/folders';
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

export const folderRoutes = [
  route({
    extension: true,
    method: 'POST',
    path: FOLDERS,
    summary: 'Create a folder and its missing parents',
    body: CreateFolder,
    document: `mutation ($input: CreateFolderInput!) { createFolder(input: $input) { folder { ${FOLDER_FIELDS} } } }`,
    variables: ({ body }) => ({ input: body }),
    reply: ({ createFolder }) => ({ folder: createFolder.folder }),
    errors: ['PROJECT_NOT_FOUND', 'ENVIRONMENT_NOT_FOUND'],
    example: { projectId: '8a1f5a0e-7a51-4f0a-9f0e-5a3f4f0c2d11', environment: 'dev', path: '/', name: 'app' },
  }),
  route({
    extension: true,
    method: 'GET',
    path: FOLDERS,
    summary: 'List folders',
    query: ListFolders.omit({ first: true, after: true }).extend({
      recursive: recursive.meta({ description: 'Whether to list all folders below too.' }),
      lastSecretModified: z.iso.datetime({ offset: true }).optional().meta({
        description: 'Only folders in which a secret was created, updated, moved in or deleted at this time or later.',
      }),
      ...paging,
    }),
    document: `query ($projectId: ID!, $environment: String!, $path: String!, $recursive: Boolean!,
        $lastSecretModified: DateTime, $first: Int, $after: String) {
      folders(projectId: $projectId, environment: $environment, path: $path, recursive: $recursive,
          lastSecretModified: $lastSecretModified, first: $first, after: $after) {
        nodes { ${FOLDER_FIELDS} } pageInfo { hasNextPage endCursor }
      }
    }`,
    variables: ({ query: { limit, cursor, ...query } }) => ({ ...query, first: limit, after: cursor }),
    reply: ({ folders }) => ({ folders: folders.nodes, ...nextCursor(folders.pageInfo) }),
    cached: true,
    errors: ['PROJECT_NOT_FOUND', 'ENVIRONMENT_NOT_FOUND', 'FOLDER_NOT_FOUND'],
  }),
  route({
    extension: true,
    method: 'GET',
    path: `${FOLDERS}/{folderId}`,
    summary: 'Get a folder',
    document: `query ($id: ID!) { folder(id: $id) { ${FOLDER_FIELDS} environmentName } }`,
    variables: ({ params }) => ({ id: params.folderId }),
    reply: ({ folder }) => ({ folder: withWholeEnvironment(folder) }),
    errors: ['FOLDER_NOT_FOUND'],
  }),
  route({
    extension: true,
    method: 'PATCH',
    path: `${FOLDERS}/{folderId}`,
    summary: 'Update a folder',
    body: UpdateFolderBody,
    harmless: { id: 'folderId' },
    document: `mutation ($input: UpdateFolderInput!) { updateFolder(input: $input) { folder { ${FOLDER_FIELDS} } } }`,
    variables: ({ params, body: { projectId, environment, path, ...change } }) => ({
      input: { id: params.folderId, onlyIn: { projectId, environment, path }, ...change },
    }),
    reply: ({ updateFolder }) => ({ folder: updateFolder.folder }),
    errors: CHANGE_ERRORS,
    example: { projectId: '8a1f5a0e-7a51-4f0a-9f0e-5a3f4f0c2d11', environment: 'dev', path: '/', name: 'shop' },
  }),
  route({
    extension: true,
    method: 'PATCH',
    path: `${FOLDERS}/batch`,
    summary: 'Update folders, all or nothing',
    body: UpdateFoldersBody,
    document: `mutation ($input: UpdateFoldersInput!) { updateFolders(input: $input) { folders { ${FOLDER_FIELDS} } } }`,
    variables: ({ body: { projectId, folders } }) => ({
      input: {
        projectId,
        folders: folders.map(({ environment, path, ...change }) => ({ onlyIn: { environment, path }, ...change })),
      },
    }),
    reply: ({ updateFolders }) => ({ folders: updateFolders.folders }),
    errors: CHANGE_ERRORS,
    example: {
      projectId: '8a1f5a0e-7a51-4f0a-9f0e-5a3f4f0c2d11',
      folders: [{ id: '0d9a1c52-0c1c-4b1f-8a6c-0b9f5f3f7a10', environment: 'dev', name: 'shop' }],
    },
  }),
  route({
    extension: true,
    method: 'DELETE',
    path: `${FOLDERS}/{folderId}`,
    summary: 'Delete a folder',
    operationId: 'deleteFolder',
    about:
      'Deletes a folder by ID, or by name in the folder at `path`. A folder that is not empty is deleted with `forceDelete` only.',
    params: z.strictObject({
      folderId: z.string().meta({ description: 'ID of the folder, or its name in the folder at `path`.' }),
    }),
    body: bodyOf(DeleteFolderByName, 'name'),
    harmless: { id: 'folderId' },
    document: `mutation ($input: DeleteFolderByNameInput!) { deleteFolderByName(input: $input) { folder { ${FOLDER_FIELDS} } } }`,
    variables: ({ params, body }) => ({ input: { name: params.folderId, ...body } }),
    reply: ({ deleteFolderByName }) => ({ folder: deleteFolderByName.folder }),
    errors: [
      'PROJECT_NOT_FOUND',
      'ENVIRONMENT_NOT_FOUND',
      'FOLDER_NOT_FOUND',
      'FOLDER_NOT_EMPTY',
      'ROTATED_SECRET',
      'FOLDER_IMPORTED',
      'SEALED_VALUE_INVALID',
    ],
    example: { projectId: '8a1f5a0e-7a51-4f0a-9f0e-5a3f4f0c2d11', environment: 'dev', path: '/', forceDelete: true },
  }),
];
