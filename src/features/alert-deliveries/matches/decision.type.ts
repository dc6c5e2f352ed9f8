import { Field, ObjectType, registerEnumType } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
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
  description: 'What an alert makes of a certificate.',
  valuesConfig: {
    NOTIFIED: { description: 'It has notified: see `messages`.' },
    PENDING: { description: 'Its messages wait to be sent, or to be sent again.' },
    FAILED: { description: 'None of its messages was delivered.' },
    DUE: { description: 'It notifies of its expiry with the next look, at midnight UTC at the latest.' },
    NOT_DUE_YET: { description: 'It expires too late: see `dueAt`.' },
    NO_EVENT: { description: 'The event has not happened to it since the alert began to notify of it.' },
    FILTERED: { description: 'It does not pass the filters.' },
    SUPERSEDED: { description: 'A newer certificate has replaced it.' },
    REVOKED: { description: 'It is revoked, so that its expiry does not matter.' },
    EXPIRED: { description: 'It had expired before the alert could notify.' },
    AUTHORITY_DISABLED: { description: 'It is the certificate of an authority that is disabled.' },
    DISABLED: { description: 'The alert is disabled.' },
    NO_CHANNEL: { description: 'The alert has no channel that is enabled.' },
  },
});

/** What the API shows of a decision. */
@ObjectType('CertificateAlertDecision', {
  description: 'What came, or will come, of an alert for a certificate.',
  simpleResolvers: true,
})
export class DecisionType {
  @Field(() => AlertType, { description: 'The alert.' })
  alert!: AlertType;

  @Field(() => OutcomeEnum, { description: 'Whether it has notified, or why not.' })
  outcome!: Decision['outcome'];

  @Field(() => DateTime, { nullable: true, description: 'When it will notify; null unless it is not due yet.' })
  dueAt!: Date | null;

  @Field(() => [AlertMessageType], {
    description: 'When and to whom it was notified, newest first; at most a hundred messages.',
  })
  messages!: readonly AlertMessageType[];
}

export const DecisionConnection = connectionOf(
  DecisionType,
  'CertificateAlertDecision',
  'when their alerts were made, newest first',
);
