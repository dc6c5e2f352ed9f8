import type { Context } from '../../../kernel/context.js';
import type { TargetPolicy } from '../../../kernel/outbound/http.js';
import type { Mailer } from '../../../kernel/outbound/mail.js';
import type { Target } from '../channel.js';
import type { Delivery } from '../notification.js';
import type { Outcome } from '../outcome.js';
import { sendEmail } from './email.js';
import { sendPagerDuty } from './pagerduty.js';
import { sendSlack } from './slack.js';
import { sendWebhook } from './webhook.js';

/** What deliveries leave by. */
interface Outside {
  readonly mailer: Mailer;
  readonly policy: TargetPolicy;
  /** Another endpoint of PagerDuty than the public one. */
  readonly pagerdutyUrl?: string;
  /** Whether an organization sends mails to an address. */
  readonly mayMail: (ctx: Context, address: string) => Promise<boolean>;
}

const NOT_ALLOWED = 'RECIPIENT_NOT_ALLOWED';
const REFUSED: Outcome = {
  result: 'permanent',
  code: NOT_ALLOWED,
  status: null,
  retryAfterSeconds: null,
};

/** Delivers notifications to channels of every type. */
export class Notifier {
  constructor(private readonly outside: Outside) {}

  /**
   * Makes one attempt to deliver a notification to one target. Whether and when another one follows is for the caller to decide.
   *
   * @returns `accepted` once the target has taken it; never fails for what a target does
   * @throws Error inside a transaction
   * Source: decisions 7.5, 7.6; reliability P8, P19.
   */
  async deliver(ctx: Context, { id, target, notification }: Delivery<Target>): Promise<Outcome> {
    const { mailer, policy, pagerdutyUrl: url, mayMail } = this.outside;
    switch (target.type) {
      case 'email':
        // Here and nowhere else, so that no mail leaves without it.
        if (!(await mayMail(ctx, target.recipient))) return REFUSED;
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
