import { bodyOf, type Route, routesAt, withoutNull } from '../../../../rest/route.js';
import { MessageQuery } from '../../deliveries/public.js';
import { RetryMessages } from './message.rules.js';

const select = `id projectId kind state channelId channelType recipient attempts nextAttemptAt errorCode createdAt endedAt
  noticeCount`;
const errors = ['PROJECT_NOT_FOUND'] as const;
const NOT_FOUND = ['NOTIFICATION_MESSAGE_NOT_FOUND'] as const;

const messages = routesAt('/api/v1/projects/{projectId}/notification-messages', { select, errors });
const many = routesAt('/api/v1/projects/{projectId}/notification-messages', { select: 'count hasMore', errors });
const channels = routesAt('/api/v1/projects/{projectId}/notification-channels', { select, errors });

/** Messages of projects. */
export const messageRoutes: readonly Route[] = [
  messages.get('', 'List the messages of a project, newest first', {
    field: 'notificationMessages',
    as: 'messages',
    query: MessageQuery,
  }),
  messages.get('/{messageId}', 'Get a message of a project', {
    field: 'notificationMessage',
    as: 'message',
    variables: ({ params: { messageId, projectId } }) => ({ id: messageId, projectId }),
    errors: NOT_FOUND,
  }),
  messages.post('/{messageId}/retry', 'Send a failed or cancelled message again', {
    field: 'retryNotificationMessage',
    as: 'message',
    variables: ({ params: { messageId, projectId } }) => ({ input: { id: messageId, projectId } }),
    errors: [...NOT_FOUND, 'NOTIFICATION_MESSAGE_NOT_RETRYABLE'],
  }),
  many.post('/retry', 'Send failed and cancelled messages of a project again', {
    field: 'retryNotificationMessages',
    body: bodyOf(withoutNull(RetryMessages), 'projectId'),
    reply: ({ retryNotificationMessages }) => retryNotificationMessages.retried,
    example: { dryRun: true },
  }),
  channels.get('/{channelId}/messages', 'List the messages of a notification channel, newest first', {
    operationId: 'listNotificationChannelMessages',
    field: 'notificationMessages',
    as: 'messages',
    query: MessageQuery,
    errors: ['NOTIFICATION_CHANNEL_NOT_FOUND'],
  }),
];
