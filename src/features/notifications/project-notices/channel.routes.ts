import { bodyOf, type Data, eachOf, routesAt } from '../../../rest/route.js';
import type { ChannelRules } from './channel.rules.js';

/** Configs are not shown. */
const toReply = ({ channel: { channelType, enabled }, ...rest }: Data): Data => ({
  ...rest,
  channelType,
  enabled,
});

/** Notification channels of projects. */
export function channelRoutes(rules: ChannelRules) {
  const channels = routesAt('/api/v1/projects/{projectId}/notification-channels', {
    select: 'id projectId name kinds channel { channelType enabled } createdAt updatedAt',
    errors: ['PROJECT_NOT_FOUND'],
  });
  const one = (payload: string) => (data: Data) => ({
    notificationChannel: toReply(payload === 'notificationChannel' ? data[payload] : data[payload].notificationChannel),
  });
  const NOT_FOUND = ['NOTIFICATION_CHANNEL_NOT_FOUND'] as const;
  return [
    channels.post('', 'Create a notification channel', {
      field: 'createNotificationChannel',
      body: bodyOf(rules.create, 'projectId'),
      reply: one('createNotificationChannel'),
      errors: ['NOTIFICATION_CHANNEL_NAME_TAKEN', 'NOTIFICATION_CHANNELS_FULL'],
      example: { name: 'On call', config: { email: { recipients: ['oncall@example.com'] } } },
    }),
    channels.get('', 'List the notification channels of a project', { field: 'notificationChannels' }),
    channels.get('/{channelId}', 'Get a notification channel', {
      field: 'notificationChannel',
      reply: one('notificationChannel'),
      errors: NOT_FOUND,
    }),
    channels.patch('/{channelId}', 'Update a notification channel', {
      field: 'updateNotificationChannel',
      body: bodyOf(rules.update, 'projectId', 'id'),
      reply: one('updateNotificationChannel'),
      errors: [...NOT_FOUND, 'NOTIFICATION_CHANNEL_NAME_TAKEN'],
      example: { kinds: ['secret-reminder'], enabled: false },
    }),
    channels.delete('/{channelId}', 'Delete a notification channel', {
      field: 'deleteNotificationChannel',
      reply: one('deleteNotificationChannel'),
      errors: NOT_FOUND,
    }),
    channels.post('/{channelId}/test', 'Send a test message to a notification channel', {
      field: 'testNotificationChannel',
      select: 'recipient isAccepted errorCode status',
      reply: ({ testNotificationChannel: { results } }) => ({ results: eachOf(results as Data[], (result) => result) }),
      errors: NOT_FOUND,
    }),
  ];
}
