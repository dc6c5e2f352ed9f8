import { ID, Int } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { enumType } from '../../../kernel/graphql/enums.js';
import { Node } from '../../../kernel/graphql/node.js';
import { hidden, objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import { AlertChannelTypeEnum, CertificateEventEnum } from '../alerts/public.js';
import { sentMessage } from '../deliveries/public.js';
import type { RunRow } from './alert-delivery.sql.js';

/** A message as the API shows it. It stores no address. */
export const AlertMessageType = objectType(
  'AlertMessage',
  'A notification of a certificate alert to one recipient of one channel.',
  {
    ...sentMessage,
    projectId: hidden<string>(),
    alertId: [ID, 'ID of the certificate alert.'],
    event: [CertificateEventEnum, 'Event that the message is about.'],
    channelId: [ID, 'ID of the channel, which may have been deleted since.'],
    channelType: [AlertChannelTypeEnum, 'Type of the channel.'],
    certificateCount: [Int, 'Number of certificates in the message that still exist.'],
  },
  { implements: Node },
);
export type AlertMessageType = InstanceType<typeof AlertMessageType>;

const RunStatusEnum = enumType<RunRow['status']>(
  'CertificateAlertRunStatus',
  'Result of the last run of a certificate alert.',
  {
    pending: 'At least one message is pending, and none failed.',
    success: 'The targets accepted all messages.',
    failed: 'At least one message failed or was cancelled: see `messageCount` and `sentCount`.',
  },
);

/** The last run of an alert. */
export const AlertRunType = objectType('CertificateAlertRun', 'A run of a certificate alert that sent notifications.', {
  timestamp: [DateTime, 'When the alert last found certificates to notify of.'],
  status: [RunStatusEnum, 'Result of the run.'],
  errorCode: [
    orNull(String),
    'Error code of a message that was not accepted, for example `TARGET_REJECTED`. Null if all were.',
  ],
  messageCount: [Int, 'Number of messages of the run.'],
  sentCount: [Int, 'Number of them that the targets accepted.'],
});
export type AlertRunType = InstanceType<typeof AlertRunType>;

export const AlertMessageConnection = connectionOf(AlertMessageType, 'AlertMessage', 'creation time, newest first');
