import { CANARY } from '../../world.js';
import { powerless, type RestOperation, viewer } from '../operation.js';

const ALERTS = '/api/v1/alerts';
const path = { alertId: '$identityAlert' };

/** Alerts of the expiry of credentials of identities. */
export const identityAlerts: readonly RestOperation[] = [
  {
    route: `POST ${ALERTS}`,
    body: {
      name: 'Credentials of the pipeline',
      description: CANARY,
      resourceType: 'identity.authentication',
      resourceId: '$identity',
      eventType: 'identity.authentication.expiry',
      condition: { alertBefore: '30d', dailyReminder: true },
      enabled: false,
      projectId: '$project',
      channels: [
        {
          name: CANARY,
          channelType: 'webhook',
          config: { url: `https://example.com/${CANARY}`, signingSecret: CANARY },
          enabled: true,
        },
      ],
    },
    audit: 'identity-alert:create',
    denial: viewer('identity:edit'),
  },
  {
    route: `GET ${ALERTS}`,
    query: { projectId: '$project', resourceId: '$identity' },
    audit: 'identity-alert:list',
    denial: powerless('identity:read'),
  },
  { route: `GET ${ALERTS}/{alertId}`, path, audit: 'identity-alert:get', denial: powerless('identity:read') },
  {
    route: `PATCH ${ALERTS}/{alertId}`,
    path,
    body: {
      description: `${CANARY} changed`,
      channels: [
        {
          name: CANARY,
          channelType: 'email',
          config: { recipients: [`${CANARY}@example.org`] },
          enabled: true,
        },
      ],
    },
    audit: 'identity-alert:update',
    denial: viewer('identity:edit'),
  },
  { route: `DELETE ${ALERTS}/{alertId}`, path, audit: 'identity-alert:delete', denial: viewer('identity:edit') },
];
