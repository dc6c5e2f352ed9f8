import { registerEnumType } from 'type-graphql';
import { DateTime } from '../../../../kernel/graphql/date-time.js';
import { objectType, orNull } from '../../../../kernel/graphql/object-types.js';
import { connectionOf } from '../../../../kernel/graphql/page.js';
import { AlertType } from '../../alerts/public.js';
import { AlertMessageType } from '../message.type.js';
import type { Decision } from './decision.service.js';

const OutcomeEnum = {
  NOTIFIED: 'notified',
  PENDING: 'pending',
  FAILED: 'failed',
  DUE: 'due',
  NOT_DUE_YET: 'not_due_yet',
  NO_EVENT: 'no_event',
  FILTERED: 'filtered',
  SUPERSEDED: 'superseded',
  REVOKED: 'revoked',
  EXPIRED: 'expired',
  AUTHORITY_DISABLED: 'authority_disabled',
  DISABLED: 'disabled',
  NO_CHANNEL: 'no_channel',
} as const satisfies Record<string, Decision['outcome']>;
registerEnumType(OutcomeEnum, {
  name: 'CertificateAlertOutcome',
  description: 'What an alert has done or will do about a certificate, or why it does nothing.',
  valuesConfig: {
    NOTIFIED: { description: 'A target accepted a notification, and no message is waiting: see `messages`.' },
    PENDING: {
      description:
        'Messages are waiting for delivery, for another attempt, or until the key of the project is enabled: see `messages`.',
    },
    FAILED: { description: 'No target accepted a message. The next check sends them again if they are still needed.' },
    DUE: { description: 'The alert is due. It notifies at its next check, at midnight UTC at the latest.' },
    NOT_DUE_YET: { description: 'The certificate is still valid for longer than `alertBefore`: see `dueAt`.' },
    NO_EVENT: { description: 'The event has not occurred since the alert was created.' },
    FILTERED: { description: 'The certificate does not match the filters.' },
    SUPERSEDED: { description: 'A newer certificate has replaced this one.' },
    REVOKED: { description: 'The certificate is revoked, so its expiration does not matter.' },
    EXPIRED: { description: 'The certificate expired before the alert could notify.' },
    AUTHORITY_DISABLED: { description: 'The certificate belongs to a disabled certificate authority.' },
    DISABLED: { description: 'The alert is disabled.' },
    NO_CHANNEL: { description: 'The alert has no enabled channel.' },
  },
});

/** A decision as the API shows it. */
export const DecisionType = objectType(
  'CertificateAlertDecision',
  'What one alert has done or will do about a certificate.',
  {
    alert: [AlertType, 'The alert.'],
    outcome: [OutcomeEnum, 'Whether the alert has notified, or why not.'],
    dueAt: [orNull(DateTime), 'When the alert will notify. Null unless the outcome is `NOT_DUE_YET`.'],
    messages: [[AlertMessageType], 'Messages about the certificate, newest first. At most 100.'],
  },
);
export type DecisionType = InstanceType<typeof DecisionType>;

export const DecisionConnection = connectionOf(
  DecisionType,
  'CertificateAlertDecision',
  'creation time of the alerts, newest first',
);
