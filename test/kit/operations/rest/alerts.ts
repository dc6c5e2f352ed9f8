import { CANARY } from '../../world.js';
import { type RestOperation, viewer } from '../operation.js';

const ALERTS = '/api/v1/cert-manager/alerts';
const path = { alertId: '$certificateAlert' };

/** Certificate alerts. */
export const alerts: readonly RestOperation[] = [
  {
    route: `POST ${ALERTS}`,
    body: {
      projectId: '$certificateProject',
      name: 'Certificates of the shop',
      description: CANARY,
      eventType: 'expiration',
      alertBefore: '30d',
      filters: [{ field: 'common_name', operator: 'contains', value: CANARY }],
      channels: [
        {
          channelType: 'webhook',
          config: { url: `https://example.com/${CANARY}`, signingSecret: CANARY },
          enabled: true,
        },
      ],
    },
    audit: 'certificate-alert:create',
    denial: viewer('pki-alerts:create'),
  },
  {
    route: `GET ${ALERTS}`,
    query: { projectId: '$certificateProject' },
    audit: 'certificate-alert:list',
    denial: viewer('pki-alerts:read'),
  },
  { route: `GET ${ALERTS}/{alertId}`, path, audit: 'certificate-alert:get', denial: viewer('pki-alerts:read') },
  {
    route: `POST ${ALERTS}/preview/certificates`,
    body: {
      projectId: '$certificateProject',
      filters: [{ field: 'common_name', operator: 'contains', value: CANARY }],
      alertBefore: '9999d',
    },
    audit: 'certificate-alert:preview',
    denial: viewer('pki-alerts:read'),
  },
  {
    route: `GET ${ALERTS}/{alertId}/certificates`,
    path,
    audit: 'certificate-alert:list-certificates',
    denial: viewer('pki-alerts:read'),
  },
  {
    route: `GET ${ALERTS}/{alertId}/messages`,
    path,
    audit: 'certificate-alert:list-messages',
    denial: viewer('pki-alerts:read'),
  },
  {
    route: `POST ${ALERTS}/{alertId}/messages/{messageId}/retry`,
    path: { ...path, messageId: '$alertMessage' },
    audit: 'certificate-alert:retry-message',
    denial: viewer('pki-alerts:edit'),
  },
  {
    // The one channel that it has is disabled.
    route: `POST ${ALERTS}/{alertId}/test`,
    path,
    body: {},
    audit: 'certificate-alert:test',
    denial: viewer('pki-alerts:edit'),
  },
  {
    route: `PATCH ${ALERTS}/{alertId}`,
    path,
    body: {
      description: `${CANARY} changed`,
      channels: [{ channelType: 'email', config: { recipients: [`${CANARY}@example.org`] } }],
    },
    audit: 'certificate-alert:update',
    denial: viewer('pki-alerts:edit'),
  },
  { route: `DELETE ${ALERTS}/{alertId}`, path, audit: 'certificate-alert:delete', denial: viewer('pki-alerts:delete') },
];
