import { CANARY } from '../../world.js';
import { type GraphQLOperation, viewer } from '../operation.js';

const key = { id: '$organizationKey' };

/** Keys of organizations. */
export const organizationKeys: readonly GraphQLOperation[] = [
  { field: 'organizationKeys', audit: 'organization-key:list', denial: viewer('kms:read') },
  { field: 'organizationKey', args: key, audit: 'organization-key:get', denial: viewer('kms:read') },
  {
    field: 'createOrganizationKey',
    args: { name: 'payments', description: CANARY },
    audit: 'organization-key:create',
    denial: viewer('kms:create'),
  },
  { field: 'rotateOrganizationKey', args: key, audit: 'organization-key:rotate', denial: viewer('kms:edit') },
  { field: 'disableOrganizationKey', args: key, audit: 'organization-key:disable', denial: viewer('kms:edit') },
  { field: 'enableOrganizationKey', args: key, audit: 'organization-key:enable', denial: viewer('kms:edit') },
  {
    field: 'setProjectKey',
    args: { projectId: '$project', organizationKeyId: '$organizationKey' },
    audit: 'project:set-key',
    denial: viewer('workspace:edit'),
  },
];
