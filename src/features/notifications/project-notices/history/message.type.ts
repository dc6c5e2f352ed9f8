import { ID, Int } from 'type-graphql';
import { Node } from '../../../../kernel/graphql/node.js';
import { objectType } from '../../../../kernel/graphql/object-types.js';
import { connectionOf } from '../../../../kernel/graphql/page.js';
import { AlertChannelTypeEnum } from '../../alerts/public.js';
import { sentMessage } from '../../deliveries/public.js';
import { NoticeKindEnum } from '../channel.type.js';

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

export const NotificationMessageConnection = connectionOf(
  NotificationMessageType,
  'NotificationMessage',
  'creation time, newest first',
);
