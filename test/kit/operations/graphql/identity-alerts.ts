import { CANARY } from '../../world.js';
import { type GraphQLOperation, powerless, viewer } from '../operation.js';

/** Alerts of the expiry of credentials of identities. */
export const identityAlerts: readonly GraphQLOperation[] = [
  {
    field: 'identityAlerts',
    args: { projectId: '$project', identityId: '$identity' },
    audit: 'identity-alert:list',
    denial: powerless('identity:read'),
  },
  {
    field: 'identityAlert',
    args: { id: '$identityAlert' },
    audit: 'identity-alert:get',
    denial: powerless('identity:read'),
  },
  {
    field: 'createIdentityAlert',
    args: {
      projectId: '$project',
      identityId: '$identity',
      name: 'Credentials of the pipeline',
      description: CANARY,
      alertBefore: '30d',
      enabled: false,
      channels: [
        { name: CANARY, config: { webhook: { url: `https://example.com/${CANARY}`, signingSecret: CANARY } } },
      ],
    },
    audit: 'identity-alert:create',
    denial: viewer('identity:edit'),
  },
  {
    field: 'updateIdentityAlert',
    args: {
      id: '$identityAlert',
      description: `${CANARY} changed`,
      channels: [{ name: CANARY, channelType: 'EMAIL', config: { email: { recipients: [`${CANARY}@example.org`] } } }],
    },
    audit: 'identity-alert:update',
    denial: viewer('identity:edit'),
  },
  {
    field: 'deleteIdentityAlert',
    args: { id: '$identityAlert' },
    audit: 'identity-alert:delete',
    denial: viewer('identity:edit'),
  },
];
