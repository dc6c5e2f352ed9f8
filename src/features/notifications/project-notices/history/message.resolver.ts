import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { authorize } from '../../../../kernel/authz/ability.js';
import type { Context } from '../../../../kernel/context.js';
import {
  type BatchLoad,
  batched,
  linked,
  mapFound,
  type Together,
  together,
} from '../../../../kernel/database/batched.js';
import { mutation, nested, query } from '../../../../kernel/graphql/operations.js';
import type { ConnectionOf } from '../../../../kernel/paging.js';
import { type ProjectRelations, ProjectType } from '../../../projects/public.js';
import { openForSending } from '../../alerts/public.js';
import {
  addressAmong,
  MessagePageArgs,
  RETRIED_PAYLOAD,
  type RetriedCount,
  UndeliveredMessagesType,
  undeliveredOf,
} from '../../deliveries/public.js';
import { hasAddress } from '../addresses.js';
import { type ChannelRow, findChannels } from '../channel.queries.js';
import { NotificationChannelType, toNotificationChannel } from '../channel.type.js';
import { listPeopleOf } from '../notice.sql.js';
import type { MessageRow } from './message.queries.js';
import { ListMessages, OneMessage, RetryMessage, RetryMessages } from './message.rules.js';
import type { MessageService } from './message.service.js';
import { NotificationMessageConnection, NotificationMessageType } from './message.type.js';

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
  notificationMessages(ctx: Context, args: object): Promise<ConnectionOf<NotificationMessageType>> {
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
    return linked(ctx, this.#channels, channelId);
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
    [NotificationMessageType],
    'Messages of the channel, sent or pending, newest first. Null, with PERMISSION_DENIED, if you cannot read them.',
    MessagePageArgs,
  )
  async messages(channel: NotificationChannelType, ctx: Context, page: object) {
    return (await this.service.pageOfChannel(ctx, channel, page)).nodes;
  }

  @nested(NotificationMessageConnection, 'Messages of the channel, newest first, in pages.', MessagePageArgs)
  messageConnection(channel: NotificationChannelType, ctx: Context, page: object) {
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
    [NotificationMessageType],
    'Notification messages of the project, sent or pending, newest first: of its channels and to its people. Null, with PERMISSION_DENIED, if you cannot read them.',
    MessagePageArgs,
  )
  async notificationMessages({ access }: ProjectType, ctx: Context, page: object) {
    return (await this.service.pageOfProject(ctx, access, page)).nodes;
  }

  @nested(
    NotificationMessageConnection,
    'Notification messages of the project, newest first, in pages.',
    MessagePageArgs,
  )
  notificationMessageConnection({ access }: ProjectType, ctx: Context, page: object) {
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
  if (message.channelId === message.projectId) return addressAmong(ctx, message, () => together(ctx, people, message));
  const channel = await batched(ctx, channelsById, message.channelId);
  if (channel?.channelType !== 'email') return null;
  const sealed = { ...channel, channelType: 'email', table: 'notification_channel' } as const;
  return addressAmong(ctx, message, () => openForSending(ctx, sealed));
}

const channelsById: BatchLoad<ChannelRow> = async (ctx, ids) =>
  new Map((await findChannels(ctx, { ids })).map((channel) => [channel.id, channel]));

const people: Together<MessageRow, { readonly recipients: readonly string[] }> = async (ctx, messages) => {
  const projectIds = [...new Set(messages.map(({ projectId }) => projectId))];
  const found = await listPeopleOf(ctx, { projectIds, messageIds: messages.map(({ id }) => id) });
  const byProject = Map.groupBy(found.filter(hasAddress), ({ projectId }) => projectId);
  const recipients = new Map([...byProject].map(([id, rows]) => [id, rows.map(({ username }) => username)]));
  return messages.map(({ projectId }) => ({ recipients: recipients.get(projectId) ?? [] }));
};
