import { CANARY } from '../../world.js';
import { type RestOperation, viewer } from '../operation.js';

const KEYS = '/api/v1/organization/keys';
const key = { keyId: '$organizationKey' };

/** Keys of organizations. */
export const organizationKeys: readonly RestOperation[] = [
  {
    route: `POST ${KEYS}`,
    body: { name: 'shop', description: CANARY },
    audit: 'organization-key:create',
    denial: viewer('kms:create'),
  },
  { route: `GET ${KEYS}`, audit: 'organization-key:list', denial: viewer('kms:read') },
  { route: `GET ${KEYS}/{keyId}`, path: key, audit: 'organization-key:get', denial: viewer('kms:read') },
  { route: `POST ${KEYS}/{keyId}/rotate`, path: key, audit: 'organization-key:rotate', denial: viewer('kms:edit') },
  { route: `POST ${KEYS}/{keyId}/disable`, path: key, audit: 'organization-key:disable', denial: viewer('kms:edit') },
  { route: `POST ${KEYS}/{keyId}/enable`, path: key, audit: 'organization-key:enable', denial: viewer('kms:edit') },
  {
    route: 'PATCH /api/v1/projects/{projectId}/key',
    path: { projectId: '$project' },
    body: { organizationKeyId: '$organizationKey' },
    audit: 'project:set-key',
    denial: viewer('workspace:edit'),
  },
];
