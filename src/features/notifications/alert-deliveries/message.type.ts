import { Field, ID, Int, ObjectType, registerEnumType } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { Node } from '../../../kernel/graphql/node.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import { AlertChannelTypeEnum, CertificateEventEnum, type EventType } from '../alerts/public.js';
import { SentMessageType } from '../deliveries/public.js';
import type { ChannelType } from '../sending/public.js';
import type { RunRow } from './sender.sql.js';

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
    PENDING: { description: 'At least one message is pending, and none failed.' },
    SUCCESS: { description: 'The targets accepted all messages.' },
    FAILED: { description: 'At least one message failed or was cancelled: see `messageCount` and `sentCount`.' },
  },
});

/** The last run of an alert. */
@ObjectType('CertificateAlertRun', {
  description: 'A run of a certificate alert that sent notifications.',
  simpleResolvers: true,
})
export class AlertRunType {
  @Field(() => DateTime, { description: 'When the alert last found certificates to notify of.' })
  timestamp!: Date;

  @Field(() => RunStatusEnum, { description: 'Result of the run.' })
  status!: RunRow['status'];

  @Field(() => String, {
    nullable: true,
    description: 'Error code of a message that was not accepted, for example `TARGET_REJECTED`. Null if all were.',
  })
  errorCode!: string | null;

  @Field(() => Int, { description: 'Number of messages of the run.' })
  messageCount!: number;

  @Field(() => Int, { description: 'Number of them that the targets accepted.' })
  sentCount!: number;
}

export const AlertMessageConnection = connectionOf(AlertMessageType, 'AlertMessage', 'creation time, newest first');
