import { ID } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { enumType } from '../../../kernel/graphql/enums.js';
import { inputOfRule } from '../../../kernel/graphql/inputs.js';
import { Node } from '../../../kernel/graphql/node.js';
import { objectType } from '../../../kernel/graphql/object-types.js';
import { countedConnectionOf } from '../../../kernel/graphql/page.js';
import { AlertChannelType, ChannelConfigInput, toChannelType } from '../alerts/public.js';
import type { ChannelRow } from './channel.queries.js';
import { ANYWHERE } from './channel.rules.js';
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

export const NotificationChannelConnection = countedConnectionOf(
  NotificationChannelType,
  'NotificationChannel',
  'name',
);

/** Converts a channel to its GraphQL type. */
export const toNotificationChannel = (row: ChannelRow): NotificationChannelType => ({
  ...row,
  channel: toChannelType({ ...row, table: 'notification_channel' }),
});
