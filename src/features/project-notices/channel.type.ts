import { Field, ID, ObjectType, registerEnumType } from 'type-graphql';
import { DateTime } from '../../kernel/graphql/date-time.js';
import { enumOfRule, inputOfRule } from '../../kernel/graphql/inputs.js';
import { Node } from '../../kernel/graphql/node.js';
import { countedConnectionOf } from '../../kernel/graphql/page.js';
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
} as const satisfies Record<string, NoticeKind>;
registerEnumType(NoticeKindEnum, {
  name: 'NoticeKind',
  description: 'What a project is notified of.',
  valuesConfig: {
    SECRET_REMINDER: { description: 'The reminder of a secret is due.' },
    CREDENTIAL_EXPIRY: { description: 'An access token or a client secret of an identity expires soon.' },
    CREDENTIAL_CHANGE: { description: 'Credentials of an identity were made, revoked or changed.' },
    PROJECT_RESCUE: { description: 'Somebody made himself an admin of the project, which had none.' },
    CERTIFICATE_REQUEST_FAILURE: { description: 'A certificate could not be issued or renewed.' },
    CONNECTION_FAILURE: { description: 'An outside system does not accept the credentials of a connection any more.' },
    ROTATION_FAILURE: { description: 'A rotation failed, was paused, or nobody can tell which credential works.' },
  },
});
enumOfRule(noticeKind, NoticeKindEnum);
inputOfRule(ANYWHERE.config, ChannelConfigInput);

/** What the API shows of a channel of a project. */
@ObjectType('NotificationChannel', {
  implements: Node,
  description: 'A way in which a project notifies of reminders, credentials and failures.',
  simpleResolvers: true,
})
export class NotificationChannelType extends Node {
  @Field(() => ID, { description: 'ID of the project.' })
  projectId!: string;

  @Field(() => String, { description: 'What people call it; unique in the project.' })
  name!: string;

  @Field(() => [NoticeKindEnum], { description: 'Which kinds of notices it sends; empty: every kind.' })
  kinds!: readonly NoticeKind[];

  @Field(() => AlertChannelType, { description: 'How it notifies.' })
  channel!: AlertChannelType;

  @Field(() => DateTime, { description: 'When it was made.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When it was last changed.' })
  updatedAt!: Date;
}

export const NotificationChannelConnection = countedConnectionOf(
  NotificationChannelType,
  'NotificationChannel',
  'name',
);

/** A channel as the API shows it. */
export const toNotificationChannel = (row: ChannelRow): NotificationChannelType => ({
  ...row,
  channel: toChannelType({ ...row, table: 'notification_channel' }),
});
