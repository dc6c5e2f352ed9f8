import { Field, ID, Int, ObjectType } from 'type-graphql';
import { Node } from '../../../kernel/graphql/node.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import { AlertChannelTypeEnum } from '../../alerts/public.js';
import { SentMessageType } from '../../deliveries/public.js';
import type { ChannelType } from '../../notifications/public.js';
import { NoticeKindEnum } from '../channel.type.js';
import type { NoticeKind } from '../notice.rules.js';

/** What the API shows of a message of a project. */
@ObjectType('NotificationMessage', {
  implements: Node,
  description: 'What a project sends at once to one recipient of one notification channel, or to one of its people.',
  simpleResolvers: true,
})
export class NotificationMessageType extends SentMessageType {
  @Field(() => ID, { description: 'ID of the project.' })
  projectId!: string;

  @Field(() => NoticeKindEnum, { description: 'Which kind of notices it has.' })
  kind!: NoticeKind;

  @Field(() => ID, {
    description: 'The notification channel, which may be removed by now; the project, of a mail to one of its people.',
  })
  channelId!: string;

  @Field(() => AlertChannelTypeEnum, { description: 'How it is sent.' })
  channelType!: ChannelType;

  @Field(() => Int, { description: 'How many notices it has.' })
  noticeCount!: number;
}

export const NotificationMessageConnection = connectionOf(
  NotificationMessageType,
  'NotificationMessage',
  'when they were made, newest first',
);
