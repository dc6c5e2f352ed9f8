import { nextCursor, paging, route } from '../../rest/route.js';
import { CreateFolder, DeleteFolder, ListFolders, UpdateFolder } from './folder.rules.js';
import { notYet } from './not-yet.rules.js';

const FIELDS =
  'id name path environment envId: environmentId projectId parentId description version createdAt updatedAt';
const FOLDERS = '/api/v2/folders';

export const folderRoutes = [
  route({
    extension: true,
    method: 'POST',
    path: FOLDERS,
    summary: 'Create a folder, with whatever is missing above it',
    body: CreateFolder,
    document: `mutation ($input: CreateFolderInput!) { createFolder(input: $input) { folder { ${FIELDS} } } }`,
    variables: ({ body }) => ({ input: body }),
    reply: ({ createFolder }) => ({ folder: createFolder.folder }),
    errors: ['PROJECT_NOT_FOUND', 'ENVIRONMENT_NOT_FOUND'],
    example: { projectId: '8a1f5a0e-7a51-4f0a-9f0e-5a3f4f0c2d11', environment: 'dev', path: '/', name: 'app' },
  }),
  route({
    extension: true,
    method: 'GET',
    path: FOLDERS,
    summary: 'List the folders of a folder',
    query: ListFolders.omit({ first: true, after: true }).extend({
      recursive: notYet(['false'], ['true']).meta({ description: 'Whether all folders below are listed too.' }),
      ...paging,
    }),
    document: `query ($projectId: ID!, $environment: String!, $path: String!, $first: Int, $after: String) {
      folders(projectId: $projectId, environment: $environment, path: $path, first: $first, after: $after) {
        nodes { ${FIELDS} } pageInfo { hasNextPage endCursor }
      }
    }`,
    variables: ({ query: { projectId, environment, path, limit, cursor } }) => ({
      projectId,
      environment,
      path,
      first: limit,
      after: cursor,
    }),
    reply: ({ folders }) => ({ folders: folders.nodes, ...nextCursor(folders.pageInfo) }),
    cache: ({ query }) => query.projectId,
    errors: ['PROJECT_NOT_FOUND', 'ENVIRONMENT_NOT_FOUND', 'FOLDER_NOT_FOUND'],
  }),
  route({
    extension: true,
    method: 'GET',
    path: `${FOLDERS}/{folderId}`,
    summary: 'Get a folder',
    document: `query ($id: ID!) { folder(id: $id) { ${FIELDS} } }`,
    variables: ({ params }) => ({ id: params.folderId }),
    reply: ({ folder }) => ({ folder }),
    errors: ['FOLDER_NOT_FOUND'],
  }),
  route({
    extension: true,
    method: 'PATCH',
    path: `${FOLDERS}/{folderId}`,
    summary: 'Rename or describe a folder',
    body: UpdateFolder.omit({ folderId: true }),
    document: `mutation ($input: UpdateFolderInput!) { updateFolder(input: $input) { folder { ${FIELDS} } } }`,
    variables: ({ params, body }) => ({ input: { folderId: params.folderId, ...body } }),
    reply: ({ updateFolder }) => ({ folder: updateFolder.folder }),
    errors: ['PROJECT_NOT_FOUND', 'ENVIRONMENT_NOT_FOUND', 'FOLDER_NOT_FOUND', 'FOLDER_NAME_TAKEN'],
    example: { projectId: '8a1f5a0e-7a51-4f0a-9f0e-5a3f4f0c2d11', environment: 'dev', path: '/', name: 'shop' },
  }),
  route({
    extension: true,
    method: 'DELETE',
    path: `${FOLDERS}/{folderIdOrName}`,
    summary: 'Delete a folder',
    body: DeleteFolder.omit({ folderIdOrName: true }),
    document: `mutation ($input: DeleteFolderInput!) { deleteFolder(input: $input) { folder { ${FIELDS} } } }`,
    variables: ({ params, body }) => ({ input: { folderIdOrName: params.folderIdOrName, ...body } }),
    reply: ({ deleteFolder }) => ({ folder: deleteFolder.folder }),
    errors: ['PROJECT_NOT_FOUND', 'ENVIRONMENT_NOT_FOUND', 'FOLDER_NOT_FOUND', 'FOLDER_NOT_EMPTY'],
    example: { projectId: '8a1f5a0e-7a51-4f0a-9f0e-5a3f4f0c2d11', environment: 'dev', path: '/', forceDelete: true },
  }),
];
