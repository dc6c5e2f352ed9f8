import type { Context } from '../../../../kernel/context.js';
import type { TargetPolicy } from '../../../../kernel/outbound/http.js';
import type { Mailer } from '../../../../kernel/outbound/mail.js';
import { isMailAllowed } from '../../../identity/organizations/public.js';
import type { Delivery, DeliveryOutcome, Target } from '../notification.js';
import { sendEmail } from './email.js';
import { sendPagerDuty } from './pagerduty.js';
import { sendSlack } from './slack.js';
import { sendWebhook } from './webhook.js';

/** What deliveries depend on. */
interface Outside {
  readonly mailer: Mailer;
  readonly policy: TargetPolicy;
  /** Endpoint of PagerDuty, if not the public one. */
  readonly pagerdutyUrl?: string;
}

const NOT_ALLOWED = 'RECIPIENT_NOT_ALLOWED';
const REFUSED: DeliveryOutcome = {
  result: 'permanent',
  code: NOT_ALLOWED,
  status: null,
  retryAfterSeconds: null,
};

/** Delivers notifications to channels of every type. */
export class Notifier {
  constructor(private readonly outside: Outside) {}

  /**
   * Makes one attempt to deliver a notification to one target. The caller decides about retries.
   *
   * @returns `accepted` once the target accepted it; does not throw for failures of the target
   * @throws Error inside a transaction
   */
  async deliver(ctx: Context, { id, target, notification }: Delivery<Target>): Promise<DeliveryOutcome> {
    const { mailer, policy, pagerdutyUrl: url } = this.outside;
    switch (target.type) {
      case 'email':
        // The only place of this check, so that no email bypasses it.
        if (!(await isMailAllowed(ctx, target.recipient))) return REFUSED;
        return sendEmail(ctx, mailer, { id, target, notification });
      case 'webhook':
        return sendWebhook(ctx, policy, { id, target, notification });
      case 'slack':
        return sendSlack(ctx, policy, { id, target, notification });
      case 'pagerduty':
        return sendPagerDuty(ctx, { policy, url }, { id, target, notification });
    }
  }
}
