import { powerless, type RestOperation, viewer } from '../operation.js';

const PROJECT = '/api/v1/projects/{projectId}';
const MEMBER = '/api/v2/workspace/{projectId}/identity-memberships';

const GROUP = '/api/v2/workspace/{projectId}/groups';

/** Members of projects. */
export const members: readonly RestOperation[] = [
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
    body: { role: '$roleSlug' },
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
    body: { roles: [{ role: 'viewer' }, { role: '$roleSlug' }] },
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
  {
    route: `GET ${GROUP}`,
    path: { projectId: '$project' },
    audit: 'project-membership:list',
    denial: powerless('groups:read'),
  },
  {
    route: `POST ${GROUP}/{groupIdOrName}`,
    path: { projectId: '$project', groupIdOrName: '$otherGroup' },
    body: { projectId: '$project', roles: [{ role: 'viewer' }, { role: '$roleSlug' }] },
    audit: 'project-membership:create',
    denial: viewer('groups:create'),
  },
  {
    route: `GET ${GROUP}/{groupIdOrName}`,
    path: { projectId: '$project', groupIdOrName: '$groupSlug' },
    audit: 'project-membership:get',
    denial: powerless('groups:read'),
  },
  {
    route: `PATCH ${GROUP}/{groupIdOrName}`,
    path: { projectId: '$project', groupIdOrName: '$group' },
    body: { roles: [{ role: 'viewer', isTemporary: true, temporaryMode: 'relative', temporaryRange: '2h' }] },
    audit: 'project-membership:update',
    denial: viewer('groups:edit'),
  },
  {
    route: `DELETE ${GROUP}/{groupIdOrName}`,
    path: { projectId: '$project', groupIdOrName: '$group' },
    audit: 'project-membership:delete',
    denial: viewer('groups:delete'),
  },
  {
    route: 'POST /api/v2/workspace/{projectId}/memberships',
    path: { projectId: '$project' },
    body: { projectId: '$project', usernames: ['$otherUsername'], roleSlugs: ['viewer', '$roleSlug'] },
    audit: 'project-membership:create',
    denial: viewer('member:create'),
  },
];
