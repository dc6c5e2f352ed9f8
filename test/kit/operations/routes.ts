import { CANARY } from '../world.js';
import { powerless, type RouteRow, viewer } from './operation.js';

/** It needs a host that speaks SMB: tests of connections to hosts send it. */
export const WITH_HOSTS: readonly string[] = ['POST /api/v1/app-connections/smb'];

const HOSTS = '/api/v1/app-connections/smb';
const ACCOUNTS = '/api/v2/secret-rotations/hostos-local-account';
const TOKENS = '/api/v2/secret-rotations/datatool-service-token';
const IDENTITIES = '/api/v2/workspace/{projectId}/identity-memberships';
const GROUPS = '/api/v2/workspace/{projectId}/groups';
const IN_GROUP = '/api/v1/groups/{groupId}';

/** What parameters stand for in paths that begin so. */
export const BELOW: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  [`${HOSTS}/`]: { connectionId: '$smbConnection', name: '$smbConnectionName' },
  [`${ACCOUNTS}/`]: { rotationId: '$accountRotation', name: '$accountRotationName' },
};

/** What does not follow from the fields that answer the routes. */
export const ROUTES: Readonly<Record<string, RouteRow>> = {
  'GET /api/v1/projects': { query: { includeRoles: 'true' }, denial: powerless('member:create') },
  'GET /api/v1/workspace': { query: { includeRoles: 'true' }, denial: powerless('member:create') },
  'PATCH /api/v2/workspace/{slug}': { path: { slug: '$projectSlug' }, looksUp: 'project:get' },
  'DELETE /api/v2/workspace/{slug}': { path: { slug: '$projectSlug' }, looksUp: 'project:get' },

  // One field answers for members of every kind. Each kind has rights of its own.
  'POST /api/v1/projects/{projectId}/memberships': {
    body: { userId: '$otherUser' },
    denial: viewer('member:create'),
  },
  [`GET ${IDENTITIES}`]: { denial: powerless('identity:read') },
  [`GET ${IDENTITIES}/{identityId}`]: { denial: powerless('identity:read') },
  [`POST ${IDENTITIES}/{identityId}`]: { path: { identityId: '$otherIdentity' } },
  [`PATCH ${IDENTITIES}/{identityId}`]: { denial: viewer('identity:edit') },
  [`DELETE ${IDENTITIES}/{identityId}`]: { denial: viewer('identity:delete') },
  [`GET ${GROUPS}`]: { denial: powerless('groups:read') },
  [`GET ${GROUPS}/{groupIdOrName}`]: { path: { groupIdOrName: '$groupSlug' }, denial: powerless('groups:read') },
  [`POST ${GROUPS}/{groupIdOrName}`]: { path: { groupIdOrName: '$otherGroup' }, denial: viewer('groups:create') },
  [`PATCH ${GROUPS}/{groupIdOrName}`]: {
    body: { roles: [{ role: 'viewer', isTemporary: true, temporaryMode: 'relative', temporaryRange: '2h' }] },
    denial: viewer('groups:edit'),
  },
  [`DELETE ${GROUPS}/{groupIdOrName}`]: { denial: viewer('groups:delete') },
  [`POST ${IN_GROUP}/machine-identities/{identityId}`]: {
    path: { identityId: '$otherIdentity' },
    denial: viewer('groups:add-identities'),
  },
  [`POST ${IN_GROUP}/users/{username}`]: { path: { username: '$otherUsername' } },
  [`DELETE ${IN_GROUP}/users/{username}`]: { denial: viewer('groups:remove-members') },

  'POST /api/v1/additional-privilege/identity/temporary': {
    body: { temporaryMode: 'relative', temporaryRange: '2h' },
  },
  'GET /api/v1/organization/audit-logs': { query: { eventType: 'secret:get' } },

  [`PATCH ${HOSTS}/{connectionId}`]: { body: { credentials: undefined } },
  [`DELETE ${TOKENS}/{rotationId}`]: { alsoLeaves: ['secret:delete'] },
  // Without a host nothing is published: the rotation of the world has no secrets.
  [`POST ${ACCOUNTS}`]: {
    body: {
      connectionId: '$smbConnection',
      parameters: { username: 'backup', rotationMethod: 'login-as-target' },
      secretsMapping: { username: 'NEW_USER', password: 'NEW_PASSWORD' },
      temporaryParameters: { password: CANARY },
    },
    needsHost: true,
  },
  [`POST ${ACCOUNTS}/{rotationId}/rotate-secrets`]: { needsHost: true },
  [`POST ${ACCOUNTS}/{rotationId}/check-credentials`]: { needsHost: true },
  [`POST ${ACCOUNTS}/{rotationId}/move`]: { alsoLeaves: [] },
  [`DELETE ${ACCOUNTS}/{rotationId}`]: { alsoLeaves: [] },
};
