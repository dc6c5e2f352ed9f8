import { CANARY } from '../../world.js';
import { type GraphQLOperation, viewer } from '../operation.js';

/** Notification channels of projects. */
export const notificationChannels: readonly GraphQLOperation[] = [
  {
    field: 'notificationChannels',
    args: { projectId: '$certificateProject' },
    audit: 'notification-channel:list',
    denial: viewer('webhooks:read'),
  },
  {
    field: 'notificationChannel',
    args: { id: '$notificationChannel' },
    audit: 'notification-channel:get',
    denial: viewer('webhooks:read'),
  },
  {
    field: 'createNotificationChannel',
    args: {
      projectId: '$certificateProject',
      name: CANARY,
      kinds: ['SECRET_REMINDER'],
      config: { webhook: { url: `https://example.com/${CANARY}`, signingSecret: CANARY } },
    },
    audit: 'notification-channel:create',
    denial: viewer('webhooks:create'),
  },
  {
    field: 'updateNotificationChannel',
    args: { id: '$notificationChannel', config: { email: { recipients: [`${CANARY}@example.org`] } } },
    audit: 'notification-channel:update',
    denial: viewer('webhooks:edit'),
  },
  {
    field: 'testNotificationChannel',
    args: { id: '$notificationChannel' },
    audit: 'notification-channel:test',
    denial: viewer('webhooks:edit'),
  },
  {
    field: 'deleteNotificationChannel',
    args: { id: '$notificationChannel' },
    audit: 'notification-channel:delete',
    denial: viewer('webhooks:delete'),
  },
  {
    field: 'notificationMessages',
    args: { projectId: '$certificateProject', channelId: '$notificationChannel' },
    audit: 'notification-message:list',
    denial: viewer('webhooks:read'),
  },
  {
    field: 'notificationMessage',
    args: { id: '$notificationMessage' },
    audit: 'notification-message:get',
    denial: viewer('webhooks:read'),
  },
  {
    field: 'retryNotificationMessage',
    args: { id: '$notificationMessage' },
    audit: 'notification-message:retry',
    denial: viewer('webhooks:edit'),
  },
];
