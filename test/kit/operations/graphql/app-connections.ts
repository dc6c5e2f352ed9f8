import { CANARY } from '../../world.js';
import { type GraphQLOperation, viewer } from '../operation.js';

const READ = viewer('app-connections:read-app-connections');
const CONNECT = viewer('app-connections:connect-app-connections');

/** Connections of a project. Those of the organization have tests of their own. */
export const appConnections: readonly GraphQLOperation[] = [
  { field: 'appConnectionKinds', audit: 'app-connection:list-kinds', denial: null },
  {
    field: 'appConnections',
    args: { projectId: '$project', app: 'DATATOOL' },
    audit: 'app-connection:list',
    denial: READ,
  },
  {
    field: 'usableAppConnections',
    args: { projectId: '$project', app: 'DATATOOL' },
    audit: 'app-connection:list-usable',
    denial: CONNECT,
  },
  { field: 'appConnection', args: { id: '$connection' }, audit: 'app-connection:get', denial: READ },
  {
    field: 'appConnectionByName',
    args: { app: 'DATATOOL', name: '$connectionName', projectId: '$project' },
    audit: 'app-connection:get',
    denial: READ,
  },
  {
    field: 'datatoolProjects',
    args: { connectionId: '$connection' },
    audit: 'app-connection:list-projects',
    denial: CONNECT,
  },
  {
    field: 'createAppConnection',
    args: {
      projectId: '$project',
      name: 'analytics',
      description: CANARY,
      credentials: {
        datatool: { instanceUrl: '$datatoolUrl', accountId: '70403103912345', apiToken: '$datatoolToken' },
      },
    },
    audit: 'app-connection:create',
    denial: viewer('app-connections:create-app-connections'),
  },
  {
    field: 'updateAppConnection',
    args: {
      id: '$connection',
      name: 'renamed',
      description: CANARY,
      credentials: { datatool: { instanceUrl: '$datatoolUrl', apiToken: '$datatoolToken' } },
    },
    audit: 'app-connection:update',
    denial: viewer('app-connections:edit-app-connections'),
  },
  { field: 'checkAppConnection', args: { id: '$connection' }, audit: 'app-connection:check', denial: CONNECT },
  {
    field: 'deleteAppConnection',
    args: { id: '$connection' },
    audit: 'app-connection:delete',
    denial: viewer('app-connections:delete-app-connections'),
  },
];
