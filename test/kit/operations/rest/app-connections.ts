import { CANARY } from '../../world.js';
import { type RestOperation, viewer } from '../operation.js';

const ALL = '/api/v1/app-connections';
const DATATOOL = `${ALL}/datatool`;
const SMB = `${ALL}/smb`;
const query = { projectId: '$project' };
const path = { connectionId: '$connection' };
const onHost = { connectionId: '$smbConnection' };
const READ = viewer('app-connections:read-app-connections');
const CONNECT = viewer('app-connections:connect-app-connections');

/** Those of hosts. One can be made only where there is such a host. */
const smb: readonly RestOperation[] = [
  { route: `GET ${SMB}`, query, audit: 'app-connection:list', denial: READ },
  { route: `GET ${SMB}/available`, query, audit: 'app-connection:list-usable', denial: CONNECT },
  {
    route: `GET ${SMB}/connection-name/{name}`,
    path: { name: '$smbConnectionName' },
    query,
    audit: 'app-connection:get',
    denial: READ,
  },
  { route: `GET ${SMB}/{connectionId}`, path: onHost, audit: 'app-connection:get', denial: READ },
  {
    route: `PATCH ${SMB}/{connectionId}`,
    path: onHost,
    body: { name: 'renamed', description: CANARY },
    audit: 'app-connection:update',
    denial: viewer('app-connections:edit-app-connections'),
  },
  { route: `POST ${SMB}/{connectionId}/check`, path: onHost, audit: 'app-connection:check', denial: CONNECT },
  {
    route: `DELETE ${SMB}/{connectionId}`,
    path: onHost,
    audit: 'app-connection:delete',
    denial: viewer('app-connections:delete-app-connections'),
  },
];

/** Connections of a project. Those of the organization have tests of their own. */
export const appConnections: readonly RestOperation[] = [
  ...smb,
  { route: `GET ${ALL}`, query, audit: 'app-connection:list', denial: READ },
  { route: `GET ${ALL}/options`, audit: 'app-connection:list-kinds', denial: null },
  { route: `GET ${DATATOOL}`, query, audit: 'app-connection:list', denial: READ },
  { route: `GET ${DATATOOL}/available`, query, audit: 'app-connection:list-usable', denial: CONNECT },
  {
    route: `GET ${DATATOOL}/connection-name/{name}`,
    path: { name: '$connectionName' },
    query,
    audit: 'app-connection:get',
    denial: READ,
  },
  { route: `GET ${DATATOOL}/{connectionId}`, path, audit: 'app-connection:get', denial: READ },
  { route: `GET ${DATATOOL}/{connectionId}/projects`, path, audit: 'app-connection:list-projects', denial: CONNECT },
  {
    route: `POST ${DATATOOL}`,
    body: {
      projectId: '$project',
      name: 'analytics',
      method: 'api-token',
      description: CANARY,
      credentials: { instanceUrl: '$datatoolUrl', accountId: '70403103912345', apiToken: '$datatoolToken' },
      isPlatformManagedCredentials: false,
      gatewayId: null,
    },
    audit: 'app-connection:create',
    denial: viewer('app-connections:create-app-connections'),
  },
  {
    route: `PATCH ${DATATOOL}/{connectionId}`,
    path,
    body: { name: 'renamed', description: CANARY, credentials: { apiToken: '$datatoolToken' } },
    audit: 'app-connection:update',
    denial: viewer('app-connections:edit-app-connections'),
  },
  { route: `POST ${DATATOOL}/{connectionId}/check`, path, audit: 'app-connection:check', denial: CONNECT },
  {
    route: `DELETE ${DATATOOL}/{connectionId}`,
    path,
    audit: 'app-connection:delete',
    denial: viewer('app-connections:delete-app-connections'),
  },
];
