import { Field, ID, Int, ObjectType, registerEnumType } from 'type-graphql';
import { DateTime } from '../../kernel/graphql/date-time.js';
import { Node } from '../../kernel/graphql/node.js';
import { connectionOf } from '../../kernel/graphql/page.js';
import { AlertChannelTypeEnum, CertificateEventEnum, type EventType } from '../alerts/public.js';
import { SentMessageType } from '../deliveries/public.js';
import type { ChannelType } from '../notifications/public.js';
import type { RunRow } from './message.sql.js';

/** What the API shows of a message. No address is stored with it. */
@ObjectType('AlertMessage', {
  implements: Node,
  description: 'What a certificate alert sends at once to one recipient of one channel.',
  simpleResolvers: true,
})
export class AlertMessageType extends SentMessageType {
  readonly projectId!: string;

  @Field(() => ID, { description: 'ID of the certificate alert.' })
  alertId!: string;

  @Field(() => CertificateEventEnum, { description: 'Which event it is about.' })
  event!: EventType;

  @Field(() => ID, { description: 'The channel, which may be removed by now.' })
  channelId!: string;

  @Field(() => AlertChannelTypeEnum, { description: 'How it is sent.' })
  channelType!: ChannelType;

  @Field(() => Int, { description: 'How many certificates it is about, of those that are still there.' })
  certificateCount!: number;
}

const RunStatusEnum = { PENDING: 'pending', SUCCESS: 'success', FAILED: 'failed' } as const satisfies Record<
  string,
  RunRow['status']
>;
registerEnumType(RunStatusEnum, {
  name: 'CertificateAlertRunStatus',
  description: 'What came of all that a certificate alert sent at once.',
  valuesConfig: {
    PENDING: { description: 'Something waits to be sent, or to be sent again.' },
    SUCCESS: { description: 'Everything was sent, or cancelled.' },
    FAILED: { description: 'Something was given up.' },
  },
});

/** When an alert last notified. */
@ObjectType('CertificateAlertRun', { description: 'When a certificate alert notified.', simpleResolvers: true })
export class AlertRunType {
  @Field(() => DateTime, { description: 'When the alert found what it is about.' })
  timestamp!: Date;

  @Field(() => RunStatusEnum, { description: 'What came of it.' })
  status!: RunRow['status'];

  @Field(() => String, {
    nullable: true,
    description: 'Why something failed, as `TARGET_REJECTED`; null without a failure.',
  })
  errorCode!: string | null;
}

export const AlertMessageConnection = connectionOf(
  AlertMessageType,
  'AlertMessage',
  'when they were made, newest first',
);
