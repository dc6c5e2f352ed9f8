import { ID, Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { creation, oneNamed } from '../../../kernel/graphql/creation.js';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { enumType } from '../../../kernel/graphql/enums.js';
import { inputOfRule } from '../../../kernel/graphql/inputs.js';
import { Node } from '../../../kernel/graphql/node.js';
import { objectType } from '../../../kernel/graphql/object-types.js';
import { mutation, nested, query } from '../../../kernel/graphql/operations.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import type { CountedConnectionOf } from '../../../kernel/paging.js';
import { bodyOf, type Data, eachOf, inWords, routesAt } from '../../../rest/route.js';
import { ProjectType } from '../../projects/public.js';
import { AlertTestResultType } from '../alert-deliveries/public.js';
import { AlertChannelType, ChannelConfigInput, toChannelType } from '../alerts/public.js';
import { NotificationChannel } from './channel.entity.js';
import { ANYWHERE, type ChannelRules, ListChannels, OneChannel } from './channel.rules.js';
import type { ChannelService, ListedChannels } from './channel.service.js';
import type { ChannelRow } from './notice.queries.js';
import { type NoticeKind, noticeKind } from './notice.rules.js';

export const NoticeKindEnum = enumType<NoticeKind>(
  'NoticeKind',
  'Kinds of notices of a project.',
  {
    'secret-reminder': 'The reminder of a secret is due.',
    'credential-expiry': 'An access token or client secret of an identity expires soon.',
    'credential-change': 'Credentials of an identity were created, revoked or changed.',
    'project-rescue': 'Somebody rescued the project: became its admin because it had none.',
    'certificate-request-failure': 'A certificate could not be issued or renewed.',
    'connection-failure': 'The external system no longer accepts the credentials of a connection.',
    'rotation-failure': 'A rotation failed or was paused, or it is unknown which credential is valid.',
    'delivery-failure': 'Notifications of an alert or a project reach nobody: for the admins of the organization only.',
  },
  noticeKind,
);
inputOfRule(ANYWHERE.config, ChannelConfigInput);

/** A channel of a project as the API shows it. */
export const NotificationChannelType = objectType(
  'NotificationChannel',
  'A notification channel of a project: sends reminders, changes of credentials and failures.',
  {
    projectId: [ID, 'ID of the project.'],
    name: [String, 'Name of the channel, unique in the project.'],
    kinds: [[NoticeKindEnum], 'Kinds of notices that the channel sends. An empty list means every kind.'],
    channel: [AlertChannelType, 'Type and configuration of the channel.'],
    createdAt: [DateTime, 'When the channel was created.'],
    updatedAt: [DateTime, 'When the channel was last changed.'],
  },
  { implements: Node },
);
export type NotificationChannelType = InstanceType<typeof NotificationChannelType>;

export const NotificationChannelConnection = connectionOf(NotificationChannelType, 'NotificationChannel', 'name');

/** Converts a channel to its GraphQL type. */
export const toNotificationChannel = (row: ChannelRow): NotificationChannelType => ({
  ...row,
  channel: toChannelType({ ...row, table: 'notification_channel' }),
});

const TestNotificationChannelPayload = objectType(
  'TestNotificationChannelPayload',
  'Result of `testNotificationChannel`.',
  {
    results: [[AlertTestResultType], 'One result per target: each address of an email channel, otherwise the channel.'],
  },
);
type TestNotificationChannelPayload = InstanceType<typeof TestNotificationChannelPayload>;

@Resolver(() => NotificationChannelType)
export class ChannelResolver {
  constructor(private readonly service: ChannelService) {}

  @query(NotificationChannelConnection, ListChannels, 'Notification channels of a project, by name.')
  async notificationChannels(ctx: Context, args: object): Promise<CountedConnectionOf<NotificationChannelType>> {
    return shown(await this.service.list(ctx, args));
  }

  @query(NotificationChannelType, OneChannel, 'A notification channel, by ID.')
  async notificationChannel(ctx: Context, args: object): Promise<NotificationChannelType> {
    return toNotificationChannel(await this.service.get(ctx, args));
  }

  @creation(
    ANYWHERE.create,
    { notificationChannel: [NotificationChannelType, 'The created notification channel.'] },
    'Adds a notification channel to a project.',
    {
      find: (channels: ChannelResolver, ctx, { projectId, name }) =>
        oneNamed(ctx, NotificationChannel, { projectId, name }, (id) => channels.notificationChannel(ctx, { id })),
      taken: 'NOTIFICATION_CHANNEL_NAME_TAKEN',
      // Most of a configuration is secret.
      compare: { config: null, isEnabled: ({ channel }) => channel.isEnabled },
    },
  )
  async createNotificationChannel(ctx: Context, input: object) {
    return { notificationChannel: toNotificationChannel(await this.service.create(ctx, input)) };
  }

  @mutation(
    ANYWHERE.update,
    { notificationChannel: [NotificationChannelType, 'The updated notification channel.'] },
    'Updates a notification channel, or enables or disables it.',
  )
  async updateNotificationChannel(ctx: Context, input: object) {
    return { notificationChannel: toNotificationChannel(await this.service.update(ctx, input)) };
  }

  @mutation(
    OneChannel,
    { notificationChannel: [NotificationChannelType, 'The deleted notification channel.'] },
    'Deletes a notification channel and cancels its pending messages.',
  )
  async deleteNotificationChannel(ctx: Context, input: object) {
    return { notificationChannel: toNotificationChannel(await this.service.delete(ctx, input)) };
  }

  @mutation(
    OneChannel,
    TestNotificationChannelPayload,
    'Sends a test to every target of a notification channel and waits up to 20 seconds for the responses. Requires `edit` on `webhooks`.',
  )
  async testNotificationChannel(ctx: Context, input: object): Promise<TestNotificationChannelPayload> {
    const tested = await this.service.test(ctx, input);
    return {
      results: tested.map(({ channel, ...result }) => ({
        channel: toChannelType({ ...channel, table: 'notification_channel' }),
        ...result,
      })),
    };
  }
}

const shown = (page: ListedChannels): CountedConnectionOf<NotificationChannelType> => page.show(toNotificationChannel);

@Resolver(() => ProjectType)
export class ProjectChannelsResolver {
  constructor(private readonly service: ChannelService) {}

  @nested(
    [NotificationChannelType],
    'Notification channels of the project, up to 50, by name. Null, with PERMISSION_DENIED, if you cannot read them. A project without channels emails its admins.',
  )
  async notificationChannels({ access }: ProjectType, ctx: Context): Promise<readonly NotificationChannelType[]> {
    return (await this.service.listInProject(ctx, access)).map(toNotificationChannel);
  }
}

/** Configs are not shown. */
const toReply = ({ channel: { channelType, enabled }, ...rest }: Data): Data => ({
  ...rest,
  channelType,
  enabled,
});

/** Fields that REST calls otherwise. */
const WORDS = { enabled: 'isEnabled' } as const;

/** Notification channels of projects. */
export function channelRoutes(rules: ChannelRules) {
  const channels = routesAt('/api/v1/projects/{projectId}/notification-channels', {
    select: 'id projectId name kinds channel { channelType enabled: isEnabled } createdAt updatedAt',
    show: toReply,
    words: WORDS,
    errors: ['PROJECT_NOT_FOUND'],
  });
  const NOT_FOUND = ['NOTIFICATION_CHANNEL_NOT_FOUND'] as const;
  return [
    channels.post('', 'Create a notification channel', {
      field: 'createNotificationChannel',
      body: inWords(bodyOf(rules.create, 'projectId'), WORDS),
      errors: ['NOTIFICATION_CHANNEL_NAME_TAKEN', 'NOTIFICATION_CHANNELS_FULL'],
      example: { name: 'On call', config: { email: { recipients: ['oncall@example.com'] } } },
    }),
    channels.get('', 'List the notification channels of a project', {
      field: 'notificationChannels',
      // Clients know rows of the list with the channel as an object.
      show: (row) => row,
    }),
    channels.get('/{channelId}', 'Get a notification channel', {
      field: 'notificationChannel',
      errors: NOT_FOUND,
    }),
    channels.patch('/{channelId}', 'Update a notification channel', {
      field: 'updateNotificationChannel',
      body: inWords(bodyOf(rules.update, 'projectId', 'id'), WORDS),
      errors: [...NOT_FOUND, 'NOTIFICATION_CHANNEL_NAME_TAKEN'],
      example: { kinds: ['secret-reminder'], enabled: false },
    }),
    channels.delete('/{channelId}', 'Delete a notification channel', {
      field: 'deleteNotificationChannel',
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
