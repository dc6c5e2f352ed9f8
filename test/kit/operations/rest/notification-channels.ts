import { CANARY } from '../../world.js';
import { type RestOperation, viewer } from '../operation.js';

const CHANNELS = '/api/v1/projects/{projectId}/notification-channels';
const MESSAGES = '/api/v1/projects/{projectId}/notification-messages';
const inProject = { projectId: '$certificateProject' };
const path = { ...inProject, channelId: '$notificationChannel' };
const message = { ...inProject, messageId: '$notificationMessage' };

/** Notification channels of projects. */
export const notificationChannels: readonly RestOperation[] = [
  {
    route: `POST ${CHANNELS}`,
    path: inProject,
    body: {
      name: CANARY,
      kinds: ['secret-reminder'],
      config: { webhook: { url: `https://example.com/${CANARY}`, signingSecret: CANARY } },
    },
    audit: 'notification-channel:create',
    denial: viewer('webhooks:create'),
  },
  { route: `GET ${CHANNELS}`, path: inProject, audit: 'notification-channel:list', denial: viewer('webhooks:read') },
  { route: `GET ${CHANNELS}/{channelId}`, path, audit: 'notification-channel:get', denial: viewer('webhooks:read') },
  {
    route: `PATCH ${CHANNELS}/{channelId}`,
    path,
    body: { config: { email: { recipients: [`${CANARY}@example.org`] } } },
    audit: 'notification-channel:update',
    denial: viewer('webhooks:edit'),
  },
  {
    route: `POST ${CHANNELS}/{channelId}/test`,
    path,
    audit: 'notification-channel:test',
    denial: viewer('webhooks:edit'),
  },
  {
    route: `DELETE ${CHANNELS}/{channelId}`,
    path,
    audit: 'notification-channel:delete',
    denial: viewer('webhooks:delete'),
  },
  { route: `GET ${MESSAGES}`, path: inProject, audit: 'notification-message:list', denial: viewer('webhooks:read') },
  {
    route: `GET ${CHANNELS}/{channelId}/messages`,
    path,
    audit: 'notification-message:list',
    denial: viewer('webhooks:read'),
  },
  {
    route: `GET ${MESSAGES}/{messageId}`,
    path: message,
    audit: 'notification-message:get',
    denial: viewer('webhooks:read'),
  },
  {
    route: `POST ${MESSAGES}/{messageId}/retry`,
    path: message,
    audit: 'notification-message:retry',
    denial: viewer('webhooks:edit'),
  },
];
