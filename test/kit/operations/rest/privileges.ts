import { powerless, type RestOperation, viewer } from '../operation.js';

const PRIVILEGES = '/api/v2/identity-project-additional-privilege';
const OLDER = '/api/v1/additional-privilege/identity';
const one = { privilegeId: '$privilege' };
const named = { projectSlug: '$projectSlug', identityId: '$identity' };
const permissions = [{ subject: 'secrets', action: 'readValue', conditions: { environment: 'dev' } }];
const privilegePermission = { subject: 'secrets', actions: ['readValue'], conditions: { environment: 'dev' } };

/** Additional privileges of machine identities. */
export const privileges: readonly RestOperation[] = [
  {
    route: `POST ${PRIVILEGES}`,
    body: { projectId: '$project', identityId: '$identity', slug: 'release-week', permissions },
    audit: 'additional-privilege:create',
    denial: viewer('identity:edit'),
  },
  {
    route: `GET ${PRIVILEGES}`,
    query: { projectId: '$project', identityId: '$identity' },
    audit: 'additional-privilege:list',
    denial: powerless('identity:read'),
  },
  {
    route: `GET ${PRIVILEGES}/{privilegeId}`,
    path: one,
    audit: 'additional-privilege:get',
    denial: powerless('identity:read'),
  },
  {
    route: `PATCH ${PRIVILEGES}/{privilegeId}`,
    path: one,
    body: { slug: 'after', type: { isTemporary: true, temporaryRange: '2h' } },
    audit: 'additional-privilege:update',
    denial: viewer('identity:edit'),
  },
  {
    route: `DELETE ${PRIVILEGES}/{privilegeId}`,
    path: one,
    audit: 'additional-privilege:delete',
    denial: viewer('identity:edit'),
  },
  {
    route: `POST ${OLDER}/permanent`,
    body: { ...named, slug: 'release-week', privilegePermission },
    audit: 'additional-privilege:create',
    denial: viewer('identity:edit'),
  },
  {
    route: `POST ${OLDER}/temporary`,
    body: { ...named, slug: 'release-week', privilegePermission, temporaryMode: 'relative', temporaryRange: '2h' },
    audit: 'additional-privilege:create',
    denial: viewer('identity:edit'),
  },
  { route: `GET ${OLDER}`, query: named, audit: 'additional-privilege:list', denial: powerless('identity:read') },
  {
    route: `GET ${OLDER}/{privilegeSlug}`,
    path: { privilegeSlug: '$privilegeSlug' },
    query: named,
    audit: 'additional-privilege:get',
    denial: powerless('identity:read'),
  },
  {
    route: `PATCH ${OLDER}`,
    body: { ...named, privilegeSlug: '$privilegeSlug', privilegeDetails: { isTemporary: false } },
    audit: 'additional-privilege:update',
    denial: viewer('identity:edit'),
  },
  {
    route: `DELETE ${OLDER}`,
    body: { ...named, privilegeSlug: '$privilegeSlug' },
    audit: 'additional-privilege:delete',
    denial: viewer('identity:edit'),
  },
];
