import { Field, ID, Int, ObjectType, registerEnumType } from 'type-graphql';
import { DateTime } from '../../kernel/graphql/date-time.js';
import { Node } from '../../kernel/graphql/node.js';
import { connectionOf } from '../../kernel/graphql/page.js';
import { AlertChannelTypeEnum, CertificateEventEnum, type EventType } from '../alerts/public.js';
import { SentMessageType } from '../deliveries/public.js';
import type { ChannelType } from '../notifications/public.js';
import type { RunRow } from './message.sql.js';

/** A message as the API shows it. It stores no address. */
@ObjectType('AlertMessage', {
  implements: Node,
  description: 'A notification of a certificate alert to one recipient of one channel.',
  simpleResolvers: true,
})
export class AlertMessageType extends SentMessageType {
  readonly projectId!: string;

  @Field(() => ID, { description: 'ID of the certificate alert.' })
  alertId!: string;

  @Field(() => CertificateEventEnum, { description: 'Event that the message is about.' })
  event!: EventType;

  @Field(() => ID, { description: 'ID of the channel, which may have been deleted since.' })
  channelId!: string;

  @Field(() => AlertChannelTypeEnum, { description: 'Type of the channel.' })
  channelType!: ChannelType;

  @Field(() => Int, { description: 'Number of certificates in the message that still exist.' })
  certificateCount!: number;
}

const RunStatusEnum = { PENDING: 'pending', SUCCESS: 'success', FAILED: 'failed' } as const satisfies Record<
  string,
  RunRow['status']
>;
registerEnumType(RunStatusEnum, {
  name: 'CertificateAlertRunStatus',
  description: 'Result of the last run of a certificate alert.',
  valuesConfig: {
    PENDING: { description: 'At least one message is pending.' },
    SUCCESS: { description: 'All messages were sent or cancelled.' },
    FAILED: { description: 'At least one message failed.' },
  },
});

/** The last run of an alert. */
@ObjectType('CertificateAlertRun', {
  description: 'A run of a certificate alert that sent notifications.',
  simpleResolvers: true,
})
export class AlertRunType {
  @Field(() => DateTime, { description: 'When the alert found the certificates to notify of.' })
  timestamp!: Date;

  @Field(() => RunStatusEnum, { description: 'Result of the run.' })
  status!: RunRow['status'];

  @Field(() => String, {
    nullable: true,
    description: 'Error code of a failed message, for example `TARGET_REJECTED`. Null if none failed.',
  })
  errorCode!: string | null;
}

export const AlertMessageConnection = connectionOf(AlertMessageType, 'AlertMessage', 'creation time, newest first');
