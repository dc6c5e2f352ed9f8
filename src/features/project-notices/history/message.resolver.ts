import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { authorize } from '../../../kernel/authz/ability.js';
import type { Context } from '../../../kernel/context.js';
import { type BatchLoad, linked, mapFound } from '../../../kernel/database/batched.js';
import { mutation, nested, query } from '../../../kernel/graphql/operations.js';
import type { ConnectionOf } from '../../../kernel/paging.js';
import { MessagePageArgs } from '../../deliveries/public.js';
import { type ProjectLinks, ProjectType } from '../../projects/public.js';
import { findChannels } from '../channel.queries.js';
import { NotificationChannelType, toNotificationChannel } from '../channel.type.js';
import { ListMessages, OneMessage, RetryMessage } from './message.rules.js';
import type { MessageService } from './message.service.js';
import { NotificationMessageConnection, NotificationMessageType } from './message.type.js';
import { addressOf } from './recipients.js';

@Resolver(() => NotificationMessageType)
export class MessageResolver {
  readonly #channels: BatchLoad<NotificationChannelType>;

  constructor(
    private readonly service: MessageService,
    links: ProjectLinks,
  ) {
    this.#channels = async (ctx, ids) =>
      mapFound(
        await links.readable(ctx, await findChannels(ctx, { ids }), (channel, access) => {
          authorize(access, 'webhooks:read');
          return channel;
        }),
        toNotificationChannel,
      );
  }

  @query(
    NotificationMessageConnection,
    ListMessages,
    'What a project has sent of its notices or has to send, newest first: through its channels, and to its people.',
  )
  notificationMessages(ctx: Context, args: object): Promise<ConnectionOf<NotificationMessageType>> {
    return this.service.list(ctx, args);
  }

  @query(NotificationMessageType, OneMessage, 'One message of a project by its id.')
  notificationMessage(ctx: Context, args: object): Promise<NotificationMessageType> {
    return this.service.get(ctx, args);
  }

  @mutation(
    RetryMessage,
    { notificationMessage: [NotificationMessageType, 'The message, which waits to be sent.'] },
    'Sends a message again that has failed or was cancelled, and tries it for three days. Needs EDIT.',
  )
  async retryNotificationMessage(ctx: Context, input: object) {
    return { notificationMessage: await this.service.retry(ctx, input) };
  }

  @nested(
    NotificationChannelType,
    'The notification channel; null when it was removed, of a mail to one of its people, and with PERMISSION_DENIED if you may not read it.',
  )
  channel({ channelId }: NotificationMessageType, ctx: Context): Promise<NotificationChannelType | null> {
    return linked(ctx, this.#channels, channelId);
  }

  @FieldResolver(() => String, {
    nullable: true,
    description:
      'The address that it goes to, of a mail; null when the channel has that address no more, or cannot be decrypted, and of a person who is no admin and no member any more.',
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
    'What it has sent or has to send, newest first; null with PERMISSION_DENIED if you may not read it.',
    MessagePageArgs,
  )
  async messages(channel: NotificationChannelType, ctx: Context, page: object) {
    return (await this.service.pageOfChannel(ctx, channel, page)).nodes;
  }

  @nested(NotificationMessageConnection, 'As `messages`, in pages.', MessagePageArgs)
  messageConnection(channel: NotificationChannelType, ctx: Context, page: object) {
    return this.service.pageOfChannel(ctx, channel, page);
  }
}

@Resolver(() => ProjectType)
export class ProjectMessagesResolver {
  constructor(private readonly service: MessageService) {}

  @nested(
    [NotificationMessageType],
    'What it has sent of its notices or has to send, newest first: through its channels, and to its people; null with PERMISSION_DENIED if you may not read it.',
    MessagePageArgs,
  )
  async notificationMessages({ access }: ProjectType, ctx: Context, page: object) {
    return (await this.service.pageOfProject(ctx, access, page)).nodes;
  }

  @nested(NotificationMessageConnection, 'As `notificationMessages`, in pages.', MessagePageArgs)
  notificationMessageConnection({ access }: ProjectType, ctx: Context, page: object) {
    return this.service.pageOfProject(ctx, access, page);
  }
}
