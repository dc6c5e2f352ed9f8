import { CANARY } from '../../world.js';
import { powerless, type RestOperation, viewer } from '../operation.js';

const ACCOUNTS = '/api/v2/secret-rotations/hostos-local-account';
const READ = powerless('secret-rotation:read');
const path = { rotationId: '$accountRotation' };

/** Rotations of accounts of hosts. What asks the host needs one: tests of rotations of accounts send it. */
export const accountRotations: readonly RestOperation[] = [
  { route: `GET ${ACCOUNTS}`, query: { projectId: '$project' }, audit: 'secret-rotation:list', denial: READ },
  { route: `GET ${ACCOUNTS}/{rotationId}`, path, audit: 'secret-rotation:get', denial: READ },
  {
    route: `GET ${ACCOUNTS}/rotation-name/{name}`,
    path: { name: '$accountRotationName' },
    query: { projectId: '$project', environment: 'dev', secretPath: '/' },
    audit: 'secret-rotation:get',
    denial: READ,
  },
  {
    route: `GET ${ACCOUNTS}/{rotationId}/generated-credentials`,
    path,
    audit: 'secret-rotation:read-generated-credentials',
    denial: viewer('secret-rotation:read-generated-credentials'),
  },
  {
    route: `PATCH ${ACCOUNTS}/{rotationId}`,
    path,
    body: { description: CANARY, rotationInterval: 7 },
    audit: 'secret-rotation:update',
    denial: viewer('secret-rotation:edit'),
  },
  {
    route: `POST ${ACCOUNTS}/{rotationId}/move`,
    path,
    body: { destinationEnvironment: 'prod', destinationSecretPath: '/' },
    audit: 'secret-rotation:move',
    denial: viewer('secret-rotation:edit'),
  },
  {
    route: `DELETE ${ACCOUNTS}/{rotationId}`,
    path,
    audit: 'secret-rotation:delete',
    denial: viewer('secret-rotation:delete'),
  },
];
