import { Field, ID, Int, ObjectType } from 'type-graphql';
import { Node } from '../../../../kernel/graphql/node.js';
import { connectionOf } from '../../../../kernel/graphql/page.js';
import { AlertChannelTypeEnum } from '../../alerts/public.js';
import { SentMessageType } from '../../deliveries/public.js';
import type { ChannelType } from '../../sending/public.js';
import { NoticeKindEnum } from '../channel.type.js';
import type { NoticeKind } from '../notice.rules.js';

/** A message of a project as the API shows it. */
@ObjectType('NotificationMessage', {
  implements: Node,
  description: 'A notification of a project to one recipient of a notification channel, or to one of its people.',
  simpleResolvers: true,
})
export class NotificationMessageType extends SentMessageType {
  @Field(() => ID, { description: 'ID of the project.' })
  projectId!: string;

  @Field(() => NoticeKindEnum, { description: 'Kind of the notices in the message.' })
  kind!: NoticeKind;

  @Field(() => ID, {
    description:
      'ID of the notification channel, which may have been deleted since. For emails to people, ID of the project.',
  })
  channelId!: string;

  @Field(() => AlertChannelTypeEnum, { description: 'Type of the channel.' })
  channelType!: ChannelType;

  @Field(() => Int, { description: 'Number of notices in the message.' })
  noticeCount!: number;
}

export const NotificationMessageConnection = connectionOf(
  NotificationMessageType,
  'NotificationMessage',
  'creation time, newest first',
);
