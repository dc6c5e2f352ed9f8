import { Ctx, FieldResolver, ID, Int, Resolver, Root } from 'type-graphql';
import { authorize } from '../../../kernel/authz/ability.js';
import type { Context } from '../../../kernel/context.js';
import {
  type BatchLoad,
  batchById,
  batched,
  batchedOrNull,
  mapFound,
  runTogether,
  type SharedRun,
} from '../../../kernel/database/batched.js';
import { Node } from '../../../kernel/graphql/node.js';
import { objectType } from '../../../kernel/graphql/object-types.js';
import { mutation, nested, query } from '../../../kernel/graphql/operations.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import type { CountedConnectionOf } from '../../../kernel/paging.js';
import { bodyOf, type Route, routesAt, withoutNull } from '../../../rest/route.js';
import { type ProjectRelations, ProjectType } from '../../projects/public.js';
import { AlertChannelTypeEnum, openForSending } from '../alerts/public.js';
import {
  addressByDigest,
  MessagePageArgs,
  MessageQuery,
  RETRIED_PAYLOAD,
  type RetriedCount,
  sentMessage,
  UndeliveredMessagesType,
  undeliveredOf,
} from '../deliveries/public.js';
import { NoticeKindEnum, NotificationChannelType, toNotificationChannel } from './channel.resolver.js';
import type { MessageService } from './message.service.js';
import { findChannels, type MessageRow } from './notice.queries.js';
import { hasAddress, ListMessages, OneMessage, RetryMessage, RetryMessages } from './notice.rules.js';
import { listPeopleOf } from './notice.sql.js';

/** A message of a project as the API shows it. */
export const NotificationMessageType = objectType(
  'NotificationMessage',
  'A notification of a project to one recipient of a notification channel, or to one of its people.',
  {
    ...sentMessage,
    projectId: [ID, 'ID of the project.'],
    kind: [NoticeKindEnum, 'Kind of the notices in the message.'],
    channelId: [
      ID,
      'ID of the notification channel, which may have been deleted since. For emails to people, ID of the project.',
    ],
    channelType: [AlertChannelTypeEnum, 'Type of the channel.'],
    noticeCount: [Int, 'Number of notices in the message.'],
  },
  { implements: Node },
);
export type NotificationMessageType = InstanceType<typeof NotificationMessageType>;

const NotificationMessageConnection = connectionOf(
  NotificationMessageType,
  'NotificationMessage',
  'creation time, newest first',
);

@Resolver(() => NotificationMessageType)
export class MessageResolver {
  readonly #channels: BatchLoad<NotificationChannelType>;

  constructor(
    private readonly service: MessageService,
    relations: ProjectRelations,
  ) {
    this.#channels = async (ctx, ids) =>
      mapFound(
        await relations.readable(ctx, await findChannels(ctx, { ids }), (channel, access) => {
          authorize(access, 'webhooks:read');
          return channel;
        }),
        toNotificationChannel,
      );
  }

  @query(
    NotificationMessageConnection,
    ListMessages,
    'Notification messages of a project, sent or pending, newest first: of its channels and to its people.',
  )
  notificationMessages(ctx: Context, args: object): Promise<CountedConnectionOf<NotificationMessageType>> {
    return this.service.list(ctx, args);
  }

  @query(NotificationMessageType, OneMessage, 'A notification message of a project, by ID.')
  notificationMessage(ctx: Context, args: object): Promise<NotificationMessageType> {
    return this.service.get(ctx, args);
  }

  @mutation(
    RetryMessage,
    { notificationMessage: [NotificationMessageType, 'The message, pending again.'] },
    'Retries a failed or cancelled message for up to three days. Requires `edit` on `webhooks`.',
  )
  async retryNotificationMessage(ctx: Context, input: object) {
    return { notificationMessage: await this.service.retry(ctx, input) };
  }

  @mutation(
    RetryMessages,
    RETRIED_PAYLOAD,
    'Retries failed and cancelled messages of a project: of its enabled channels, and to its people. Requires `edit` on `webhooks`.',
  )
  async retryNotificationMessages(ctx: Context, input: object): Promise<{ retried: RetriedCount }> {
    return { retried: await this.service.retryMany(ctx, input) };
  }

  @nested(
    NotificationChannelType,
    'The notification channel. Null if it was deleted, if the message is an email to a person, and, with PERMISSION_DENIED, if you cannot read it.',
  )
  channel({ channelId }: NotificationMessageType, ctx: Context): Promise<NotificationChannelType | null> {
    return batchedOrNull(ctx, this.#channels, channelId);
  }

  @FieldResolver(() => String, {
    nullable: true,
    description:
      'Email address that the message goes to. Null for other types, if the channel no longer has the address or cannot be decrypted, and if the person is no longer an admin or member.',
  })
  recipient(@Root() message: NotificationMessageType, @Ctx() ctx: Context): Promise<string | null> {
    return addressOf(ctx, message);
  }
}

@Resolver(() => NotificationChannelType)
export class ChannelMessagesResolver {
  constructor(private readonly service: MessageService) {}

  @nested(
    NotificationMessageConnection,
    'Messages of the channel, sent or pending, newest first. Null, with PERMISSION_DENIED, if you cannot read them.',
    MessagePageArgs,
  )
  messages(channel: NotificationChannelType, ctx: Context, page: object) {
    return this.service.pageOfChannel(ctx, channel, page);
  }
}

@Resolver(() => ProjectType)
export class ProjectMessagesResolver {
  constructor(private readonly service: MessageService) {}

  @nested(
    UndeliveredMessagesType,
    'Notification messages of the project that reached nobody. Null if there are none, and, with PERMISSION_DENIED, if you cannot read them.',
  )
  async undeliveredNotifications({ access }: ProjectType, ctx: Context): Promise<UndeliveredMessagesType | null> {
    authorize(access, 'webhooks:read');
    return undeliveredOf(ctx, access.projectId);
  }

  @nested(
    NotificationMessageConnection,
    'Notification messages of the project, sent or pending, newest first: of its channels and to its people. Null, with PERMISSION_DENIED, if you cannot read them.',
    MessagePageArgs,
  )
  notificationMessages({ access }: ProjectType, ctx: Context, page: object) {
    return this.service.pageOfProject(ctx, access, page);
  }
}

/**
 * The address that a message goes to, if its channel still has it or the person would still be notified; null for other types of
 * channels. All messages of a request share their statements.
 */
async function addressOf(ctx: Context, message: MessageRow): Promise<string | null> {
  if (message.channelType !== 'email') return null;
  // The people of a project count as a channel with the ID of the project.
  if (message.channelId === message.projectId)
    return addressByDigest(ctx, message, () => runTogether(ctx, people, message));
  const channel = await batched(ctx, channelsById, message.channelId);
  if (channel?.channelType !== 'email') return null;
  const sealed = { ...channel, channelType: 'email', table: 'notification_channel' } as const;
  return addressByDigest(ctx, message, () => openForSending(ctx, sealed));
}

const channelsById = batchById(findChannels);

const people: SharedRun<MessageRow, { readonly recipients: readonly string[] }> = async (ctx, messages) => {
  const projectIds = [...new Set(messages.map(({ projectId }) => projectId))];
  const found = await listPeopleOf(ctx, { projectIds, messageIds: messages.map(({ id }) => id) });
  const byProject = Map.groupBy(found.filter(hasAddress), ({ projectId }) => projectId);
  const recipients = new Map([...byProject].map(([id, rows]) => [id, rows.map(({ username }) => username)]));
  return messages.map(({ projectId }) => ({ recipients: recipients.get(projectId) ?? [] }));
};

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
    errors: NOT_FOUND,
  }),
  messages.post('/{messageId}/retry', 'Send a failed or cancelled message again', {
    field: 'retryNotificationMessage',
    as: 'message',
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
