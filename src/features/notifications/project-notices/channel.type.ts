import { Field, ID, ObjectType, registerEnumType } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { enumOfRule, inputOfRule } from '../../../kernel/graphql/inputs.js';
import { Node } from '../../../kernel/graphql/node.js';
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
@ObjectType('NotificationChannel', {
  implements: Node,
  description: 'A notification channel of a project: sends reminders, changes of credentials and failures.',
  simpleResolvers: true,
})
export class NotificationChannelType extends Node {
  @Field(() => ID, { description: 'ID of the project.' })
  projectId!: string;

  @Field(() => String, { description: 'Name of the channel, unique in the project.' })
  name!: string;

  @Field(() => [NoticeKindEnum], {
    description: 'Kinds of notices that the channel sends. An empty list means every kind.',
  })
  kinds!: readonly NoticeKind[];

  @Field(() => AlertChannelType, { description: 'Type and configuration of the channel.' })
  channel!: AlertChannelType;

  @Field(() => DateTime, { description: 'When the channel was created.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When the channel was last changed.' })
  updatedAt!: Date;
}

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
