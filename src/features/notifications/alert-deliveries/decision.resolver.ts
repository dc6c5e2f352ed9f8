import { Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { enumType } from '../../../kernel/graphql/enums.js';
import { objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { nested, query } from '../../../kernel/graphql/operations.js';
import { connectionOf } from '../../../kernel/graphql/page.js';
import type { CountedConnectionOf } from '../../../kernel/paging.js';
import { CertificateType } from '../../certificates/public.js';
import { AlertType, toAlertType } from '../alerts/public.js';
import { ListDecisions } from './alert-delivery.rules.js';
import type { CertificateAlerts, Decision, DecisionService } from './decision.service.js';
import { AlertMessageType } from './message.resolver.js';

const OutcomeEnum = enumType<Decision['outcome']>(
  'CertificateAlertOutcome',
  'What an alert has done or will do about a certificate, or why it does nothing.',
  {
    notified: 'A target accepted a notification, and no message is waiting: see `messages`.',
    pending:
      'Messages are waiting for delivery, for another attempt, or until the key of the project is enabled: see `messages`.',
    failed: 'No target accepted a message. The next check sends them again if they are still needed.',
    due: 'The alert is due. It notifies at its next check, at midnight UTC at the latest.',
    not_due_yet: 'The certificate is still valid for longer than `alertBefore`: see `dueAt`.',
    no_event: 'The event has not occurred since the alert was created.',
    filtered: 'The certificate does not match the filters.',
    superseded: 'A newer certificate has replaced this one.',
    revoked: 'The certificate is revoked, so its expiration does not matter.',
    expired: 'The certificate expired before the alert could notify.',
    authority_disabled: 'The certificate belongs to a disabled certificate authority.',
    disabled: 'The alert is disabled.',
    no_channel: 'The alert has no enabled channel.',
  },
);

/** A decision as the API shows it. */
const DecisionType = objectType('CertificateAlertDecision', 'What one alert has done or will do about a certificate.', {
  alert: [AlertType, 'The alert.'],
  outcome: [OutcomeEnum, 'Whether the alert has notified, or why not.'],
  dueAt: [orNull(DateTime), 'When the alert will notify. Null unless the outcome is `NOT_DUE_YET`.'],
  messages: [[AlertMessageType], 'Messages about the certificate, newest first. At most 100.'],
});
type DecisionType = InstanceType<typeof DecisionType>;

const DecisionConnection = connectionOf(
  DecisionType,
  'CertificateAlertDecision',
  'creation time of the alerts, newest first',
);

@Resolver(() => DecisionType)
export class DecisionResolver {
  constructor(private readonly service: DecisionService) {}

  @query(
    DecisionConnection,
    ListDecisions,
    'What each alert of the project has done or will do about a certificate: when it notified whom, or why it did not.',
  )
  async alertDecisions(ctx: Context, args: object): Promise<CountedConnectionOf<DecisionType>> {
    const page = await this.service.list(ctx, args);
    return page.show(({ alert, ...decision }) => ({ ...decision, alert: toAlertType(alert) }));
  }
}

/** Alerts of a certificate. */
@Resolver(() => CertificateType)
export class CertificateAlertsResolver {
  constructor(private readonly service: CertificateAlerts) {}

  @nested(
    [AlertType],
    'Alerts of the project whose filters match the certificate, newest first. Null, with PERMISSION_DENIED, if you cannot read alerts.',
  )
  async alerts(certificate: CertificateType, ctx: Context): Promise<readonly AlertType[]> {
    return (await this.service.of(ctx, certificate)).map(toAlertType);
  }
}
