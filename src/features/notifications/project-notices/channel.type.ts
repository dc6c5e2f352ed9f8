import { ID, registerEnumType } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { enumOfRule, inputOfRule } from '../../../kernel/graphql/inputs.js';
import { Node } from '../../../kernel/graphql/node.js';
import { objectType } from '../../../kernel/graphql/object-types.js';
import { countedConnectionOf } from '../../../kernel/graphql/page.js';
import { AlertChannelType, ChannelConfigInput, toChannelType } from '../alerts/public.js';
import type { ChannelRow } from './channel.queries.js';
import { ANYWHERE } from './channel.rules.js';
import { type NoticeKind, noticeKind } from './notice.rules.js';

export const NoticeKindEnum = {
  SECRET_REMINDER: 'secret-reminder',
  CREDENTIAL_EXPIRY: 'credential-expiry',
  CREDENTIAL_CHANGE: 'credential-change',
  PROJECT_RESCUE: 'project-rescue',
  CERTIFICATE_REQUEST_FAILURE: 'certificate-request-failure',
  CONNECTION_FAILURE: 'connection-failure',
  ROTATION_FAILURE: 'rotation-failure',
  DELIVERY_FAILURE: 'delivery-failure',
} as const satisfies Record<string, NoticeKind>;
registerEnumType(NoticeKindEnum, {
  name: 'NoticeKind',
  description: 'Kinds of notices of a project.',
  valuesConfig: {
    SECRET_REMINDER: { description: 'The reminder of a secret is due.' },
    CREDENTIAL_EXPIRY: { description: 'An access token or client secret of an identity expires soon.' },
    CREDENTIAL_CHANGE: { description: 'Credentials of an identity were created, revoked or changed.' },
    PROJECT_RESCUE: { description: 'Somebody rescued the project: became its admin because it had none.' },
    CERTIFICATE_REQUEST_FAILURE: { description: 'A certificate could not be issued or renewed.' },
    CONNECTION_FAILURE: { description: 'The external system no longer accepts the credentials of a connection.' },
    ROTATION_FAILURE: { description: 'A rotation failed or was paused, or it is unknown which credential is valid.' },
    DELIVERY_FAILURE: {
      description: 'Notifications of an alert or a project reach nobody: for the admins of the organization only.',
    },
  },
});
enumOfRule(noticeKind, NoticeKindEnum);
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
