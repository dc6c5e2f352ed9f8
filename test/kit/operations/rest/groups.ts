import { powerless, type RestOperation, viewer } from '../operation.js';

const GROUPS = '/api/v1/groups';
const IDENTITIES = `${GROUPS}/{groupId}/machine-identities`;
const USERS = `${GROUPS}/{groupId}/users`;

/** Groups, and who is in them. */
export const groups: readonly RestOperation[] = [
  {
    route: `POST ${GROUPS}`,
    body: { name: 'Web team', role: 'member' },
    audit: 'group:create',
    denial: viewer('groups:create'),
  },
  { route: `GET ${GROUPS}`, audit: 'group:list', denial: powerless('groups:read') },
  {
    route: `GET ${GROUPS}/{groupId}`,
    path: { groupId: '$group' },
    audit: 'group:get',
    denial: powerless('groups:read'),
  },
  {
    route: `PATCH ${GROUPS}/{groupId}`,
    path: { groupId: '$group' },
    body: { name: 'Web team' },
    audit: 'group:update',
    denial: viewer('groups:edit'),
  },
  {
    route: `DELETE ${GROUPS}/{groupId}`,
    path: { groupId: '$group' },
    audit: 'group:delete',
    denial: viewer('groups:delete'),
  },
  {
    route: `GET ${IDENTITIES}`,
    path: { groupId: '$group' },
    audit: 'group-member:list',
    denial: powerless('groups:read'),
  },
  {
    route: `POST ${IDENTITIES}/{identityId}`,
    path: { groupId: '$group', identityId: '$otherIdentity' },
    audit: 'group-member:add',
    denial: viewer('groups:add-identities'),
  },
  {
    route: `DELETE ${IDENTITIES}/{identityId}`,
    path: { groupId: '$group', identityId: '$identity' },
    audit: 'group-member:remove',
    denial: viewer('groups:remove-identities'),
  },
  {
    route: `GET ${USERS}`,
    path: { groupId: '$group' },
    audit: 'group-member:list',
    denial: powerless('groups:read'),
  },
  {
    route: `POST ${USERS}/{username}`,
    path: { groupId: '$group', username: '$otherUsername' },
    audit: 'group-member:add',
    denial: viewer('groups:add-members'),
  },
  {
    route: `DELETE ${USERS}/{username}`,
    path: { groupId: '$group', username: '$username' },
    audit: 'group-member:remove',
    denial: viewer('groups:remove-members'),
  },
];
