import { CANARY } from '../../world.js';
import { type GraphQLOperation, viewer } from '../operation.js';

/** Certificate alerts. */
export const alerts: readonly GraphQLOperation[] = [
  {
    field: 'certificateAlerts',
    args: { projectId: '$certificateProject' },
    audit: 'certificate-alert:list',
    denial: viewer('pki-alerts:read'),
  },
  {
    field: 'certificateAlert',
    args: { id: '$certificateAlert' },
    audit: 'certificate-alert:get',
    denial: viewer('pki-alerts:read'),
  },
  {
    field: 'previewCertificateAlert',
    args: {
      projectId: '$certificateProject',
      filters: [{ field: 'COMMON_NAME', operator: 'CONTAINS', value: CANARY }],
      alertBefore: '9999d',
    },
    audit: 'certificate-alert:preview',
    denial: viewer('pki-alerts:read'),
  },
  {
    field: 'certificateAlertMatches',
    args: { alertId: '$certificateAlert' },
    audit: 'certificate-alert:list-certificates',
    denial: viewer('pki-alerts:read'),
  },
  {
    field: 'alertDecisions',
    args: { certificateId: '$certificate' },
    audit: 'certificate-alert:list-decisions',
    denial: viewer('pki-alerts:read'),
  },
  {
    field: 'alertMessages',
    args: { alertId: '$certificateAlert' },
    audit: 'certificate-alert:list-messages',
    denial: viewer('pki-alerts:read'),
  },
  {
    field: 'alertMessage',
    args: { id: '$alertMessage' },
    audit: 'certificate-alert:get-message',
    denial: viewer('pki-alerts:read'),
  },
  {
    field: 'retryAlertMessage',
    args: { id: '$alertMessage' },
    audit: 'certificate-alert:retry-message',
    denial: viewer('pki-alerts:edit'),
  },
  {
    field: 'testCertificateAlert',
    args: { id: '$certificateAlert', channelId: '$alertChannel' },
    audit: 'certificate-alert:test',
    denial: viewer('pki-alerts:edit'),
  },
  {
    field: 'createCertificateAlert',
    args: {
      projectId: '$certificateProject',
      name: 'Certificates of the shop',
      description: CANARY,
      eventType: 'EXPIRATION',
      alertBefore: '30d',
      filters: [{ field: 'COMMON_NAME', operator: 'CONTAINS', value: CANARY }],
      channels: [{ config: { webhook: { url: `https://example.com/${CANARY}`, signingSecret: CANARY } } }],
    },
    audit: 'certificate-alert:create',
    denial: viewer('pki-alerts:create'),
  },
  {
    field: 'updateCertificateAlert',
    args: {
      id: '$certificateAlert',
      description: `${CANARY} changed`,
      channels: [{ channelType: 'EMAIL', config: { email: { recipients: [`${CANARY}@example.org`] } } }],
    },
    audit: 'certificate-alert:update',
    denial: viewer('pki-alerts:edit'),
  },
  {
    field: 'deleteCertificateAlert',
    args: { id: '$certificateAlert' },
    audit: 'certificate-alert:delete',
    denial: viewer('pki-alerts:delete'),
  },
];
