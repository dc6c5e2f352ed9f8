import { CANARY } from '../world.js';
import type { Denial, RestOperation } from './operation.js';

const viewer = (action: string): Denial => ['viewer', action];
const powerless = (action: string): Denial => ['powerless', action];

const IDENTITIES = '/api/v1/identities';
const TOKEN_AUTH = '/api/v1/auth/token-auth/identities/{identityId}';
const TOKENS = '/api/v1/auth/token-auth/tokens/{tokenId}';
const PROJECT = '/api/v1/projects/{projectId}';
const MEMBER = '/api/v2/workspace/{projectId}/identity-memberships';
const SECRETS = '/api/v4/secrets';

const place = { projectId: '$project', environment: 'dev' };
const newSecret = {
  secretValue: `${CANARY} value`,
  secretComment: `${CANARY} comment`,
  secretMetadata: [{ key: 'owner', value: `${CANARY} metadata` }],
  tagIds: ['$tag'],
};
const newProject = { projectName: 'Web shop', projectDescription: CANARY };

const access: RestOperation[] = [
  {
    route: `POST ${IDENTITIES}`,
    body: { name: 'ci', organizationId: '$organization' },
    audit: 'identity:create',
    denial: viewer('identity:create'),
  },
  {
    route: `GET ${IDENTITIES}`,
    query: { orgId: '$organization' },
    audit: 'identity:list',
    denial: powerless('identity:read'),
  },
  {
    route: `GET ${IDENTITIES}/{identityId}`,
    path: { identityId: '$identity' },
    audit: 'identity:get',
    denial: powerless('identity:read'),
  },
  {
    route: `PATCH ${IDENTITIES}/{identityId}`,
    path: { identityId: '$identity' },
    body: { name: 'other' },
    audit: 'identity:update',
    denial: viewer('identity:edit'),
  },
  {
    route: `DELETE ${IDENTITIES}/{identityId}`,
    path: { identityId: '$identity' },
    audit: 'identity:delete',
    denial: viewer('identity:delete'),
  },
  {
    route: `POST ${TOKEN_AUTH}`,
    path: { identityId: '$otherIdentity' },
    body: { accessTokenTTL: 60 },
    audit: 'identity-token-auth:attach',
    denial: viewer('identity:edit'),
  },
  {
    route: `GET ${TOKEN_AUTH}`,
    path: { identityId: '$identity' },
    audit: 'identity-token-auth:get',
    denial: powerless('identity:read'),
  },
  {
    route: `PATCH ${TOKEN_AUTH}`,
    path: { identityId: '$identity' },
    body: { accessTokenTTL: 60 },
    audit: 'identity-token-auth:update',
    denial: viewer('identity:edit'),
  },
  {
    route: `DELETE ${TOKEN_AUTH}`,
    path: { identityId: '$identity' },
    audit: 'identity-token-auth:remove',
    denial: viewer('identity:revoke-auth'),
  },
  {
    route: `POST ${TOKEN_AUTH}/tokens`,
    path: { identityId: '$identity' },
    body: { name: CANARY, organizationSlug: '$subSlug' },
    audit: 'access-token:create',
    denial: viewer('identity:create-token'),
  },
  {
    route: `GET ${TOKEN_AUTH}/tokens`,
    path: { identityId: '$identity' },
    audit: 'access-token:list',
    denial: viewer('identity:get-token'),
  },
  {
    route: `GET ${TOKENS}`,
    path: { tokenId: '$accessToken' },
    audit: 'access-token:get',
    denial: viewer('identity:get-token'),
  },
  {
    route: `PATCH ${TOKENS}`,
    path: { tokenId: '$accessToken' },
    body: { name: CANARY },
    audit: 'access-token:rename',
    denial: viewer('identity:get-token'),
  },
  {
    route: `POST ${TOKENS}/revoke`,
    path: { tokenId: '$accessToken' },
    audit: 'access-token:revoke',
    denial: viewer('identity:get-token'),
  },
  {
    route: 'POST /api/v1/auth/token/renew',
    body: { accessToken: '$heldToken' },
    audit: 'access-token:renew',
    denial: null,
    actor: 'identity',
  },
  {
    route: 'POST /api/v1/auth/token/revoke',
    body: { accessToken: '$heldToken' },
    audit: 'access-token:revoke',
    denial: null,
    actor: 'identity',
  },
];

const projects: RestOperation[] = [
  { route: 'POST /api/v2/workspace', body: newProject, audit: 'project:create', denial: powerless('workspace:create') },
  { route: 'POST /api/v1/projects', body: newProject, audit: 'project:create', denial: powerless('workspace:create') },
  {
    route: 'GET /api/v1/workspace/{workspaceId}',
    path: { workspaceId: '$project' },
    audit: 'project:get',
    denial: null,
  },
  {
    route: 'GET /api/v1/projects',
    query: { includeRoles: 'true' },
    audit: 'project:list',
    denial: powerless('member:create'),
  },
  { route: `GET ${PROJECT}`, path: { projectId: '$project' }, audit: 'project:get', denial: null },
  { route: 'GET /api/v1/projects/slug/{slug}', path: { slug: '$projectSlug' }, audit: 'project:get', denial: null },
  {
    route: `PATCH ${PROJECT}`,
    path: { projectId: '$project' },
    body: { description: CANARY, secretDetectionIgnoreValues: [CANARY] },
    audit: 'project:update',
    denial: viewer('settings:edit'),
  },
  {
    route: `DELETE ${PROJECT}`,
    path: { projectId: '$project' },
    audit: 'project:delete',
    denial: viewer('workspace:delete'),
  },
  {
    route: `POST ${PROJECT}/environments`,
    path: { projectId: '$project' },
    body: { name: 'Preview', slug: 'preview' },
    audit: 'environment:create',
    denial: viewer('environments:create'),
  },
  {
    route: `GET ${PROJECT}/environments/{environmentId}`,
    path: { projectId: '$project', environmentId: '$environment' },
    audit: 'environment:get',
    denial: powerless('environments:read'),
  },
  {
    route: `PATCH ${PROJECT}/environments/{environmentId}`,
    path: { projectId: '$project', environmentId: '$environment' },
    body: { position: 2 },
    audit: 'environment:update',
    denial: viewer('environments:edit'),
  },
  {
    route: `DELETE ${PROJECT}/environments/{environmentId}`,
    path: { projectId: '$project', environmentId: '$environment' },
    audit: 'environment:delete',
    denial: viewer('environments:delete'),
  },
];

const members: RestOperation[] = [
  {
    route: `GET ${PROJECT}/memberships`,
    path: { projectId: '$project' },
    audit: 'project-membership:list',
    denial: powerless('member:read'),
  },
  {
    route: `POST ${PROJECT}/memberships`,
    path: { projectId: '$project' },
    body: { userId: '$otherUser', role: 'viewer' },
    audit: 'project-membership:create',
    denial: viewer('member:create'),
  },
  {
    route: `GET ${PROJECT}/memberships/{userId}`,
    path: { projectId: '$project', userId: '$user' },
    audit: 'project-membership:get',
    denial: powerless('member:read'),
  },
  {
    route: `PATCH ${PROJECT}/memberships/{userId}`,
    path: { projectId: '$project', userId: '$user' },
    body: { role: 'member' },
    audit: 'project-membership:update',
    denial: viewer('member:edit'),
  },
  {
    route: `DELETE ${PROJECT}/memberships/{userId}`,
    path: { projectId: '$project', userId: '$user' },
    audit: 'project-membership:delete',
    denial: viewer('member:delete'),
  },
  {
    route: `GET ${MEMBER}`,
    path: { projectId: '$project' },
    audit: 'project-membership:list',
    denial: powerless('identity:read'),
  },
  {
    route: `POST ${MEMBER}/{identityId}`,
    path: { projectId: '$project', identityId: '$otherIdentity' },
    body: { role: 'viewer' },
    audit: 'project-membership:create',
    denial: viewer('identity:create'),
  },
  {
    route: `GET ${MEMBER}/{identityId}`,
    path: { projectId: '$project', identityId: '$identity' },
    audit: 'project-membership:get',
    denial: powerless('identity:read'),
  },
  {
    route: `PATCH ${MEMBER}/{identityId}`,
    path: { projectId: '$project', identityId: '$identity' },
    body: { role: 'member' },
    audit: 'project-membership:update',
    denial: viewer('identity:edit'),
  },
  {
    route: `DELETE ${MEMBER}/{identityId}`,
    path: { projectId: '$project', identityId: '$identity' },
    audit: 'project-membership:delete',
    denial: viewer('identity:delete'),
  },
];

const tags: RestOperation[] = [
  {
    route: `POST ${PROJECT}/tags`,
    path: { projectId: '$project' },
    body: { slug: 'database', color: '#aa0000' },
    audit: 'tag:create',
    denial: viewer('tags:create'),
  },
  { route: `GET ${PROJECT}/tags`, path: { projectId: '$project' }, audit: 'tag:list', denial: powerless('tags:read') },
  {
    route: `GET ${PROJECT}/tags/{tagId}`,
    path: { projectId: '$project', tagId: '$tag' },
    audit: 'tag:get',
    denial: powerless('tags:read'),
  },
  {
    route: `GET ${PROJECT}/tags/slug/{slug}`,
    path: { projectId: '$project', slug: '$tagSlug' },
    audit: 'tag:get',
    denial: powerless('tags:read'),
  },
  {
    route: `PATCH ${PROJECT}/tags/{tagId}`,
    path: { projectId: '$project', tagId: '$tag' },
    body: { color: '#00aa00' },
    audit: 'tag:update',
    denial: viewer('tags:edit'),
  },
  {
    route: `DELETE ${PROJECT}/tags/{tagId}`,
    path: { projectId: '$project', tagId: '$tag' },
    audit: 'tag:delete',
    denial: viewer('tags:delete'),
  },
];

const secrets: RestOperation[] = [
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
    route: 'DELETE /api/v2/folders/{folderIdOrName}',
    path: { folderIdOrName: '$folder' },
    body: { ...place, forceDelete: true },
    audit: 'folder:delete',
    denial: viewer('secret-folders:delete'),
  },
  { route: `GET ${SECRETS}`, query: place, audit: 'secret:list', denial: powerless('secrets:describeSecret') },
  {
    route: `GET ${SECRETS}/id/{secretId}`,
    path: { secretId: '$secret' },
    audit: 'secret:get',
    denial: powerless('secrets:describeSecret'),
  },
  {
    route: `GET ${SECRETS}/{secretName}`,
    path: { secretName: '$secretKey' },
    query: place,
    audit: 'secret:get',
    denial: powerless('secrets:describeSecret'),
  },
  {
    route: `POST ${SECRETS}/{secretName}`,
    path: { secretName: 'NEW_KEY' },
    body: { ...place, ...newSecret },
    audit: 'secret:create',
    denial: viewer('secrets:create'),
  },
  {
    route: `PATCH ${SECRETS}/{secretName}`,
    path: { secretName: '$secretKey' },
    body: { ...place, ...newSecret },
    audit: 'secret:update',
    denial: viewer('secrets:edit'),
  },
  {
    route: `DELETE ${SECRETS}/{secretName}`,
    path: { secretName: '$secretKey' },
    body: place,
    audit: 'secret:delete',
    denial: viewer('secrets:delete'),
  },
  {
    route: `POST ${SECRETS}/batch`,
    body: { ...place, secrets: [{ secretKey: 'NEW_KEY', ...newSecret }] },
    audit: 'secret:create',
    denial: viewer('secrets:create'),
  },
  {
    route: `PATCH ${SECRETS}/batch`,
    body: { ...place, secrets: [{ secretKey: '$secretKey', ...newSecret }] },
    audit: 'secret:update',
    denial: viewer('secrets:edit'),
  },
  {
    route: `DELETE ${SECRETS}/batch`,
    body: { ...place, secrets: [{ secretKey: '$secretKey' }] },
    audit: 'secret:delete',
    denial: viewer('secrets:delete'),
  },
];

/** A request for every route of the API reference. */
export const REST: readonly RestOperation[] = [...access, ...projects, ...members, ...tags, ...secrets];
