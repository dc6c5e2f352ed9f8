import type { Context } from '../../../kernel/context.js';
import type { Mailer } from '../../../kernel/outbound/mail.js';
import type { TargetOf } from '../channel.js';
import type { Delivery } from '../notification.js';
import { type Outcome, outcomeOf } from '../outcome.js';
import { htmlMail, mailContent, textMail } from './email-content.js';

/** Sends an email to one recipient. */
export function sendEmail(
  ctx: Context,
  mailer: Mailer,
  { id, target, notification }: Delivery<TargetOf<'email'>>,
): Promise<Outcome> {
  const content = mailContent(notification, target.recipient);
  const mail = {
    to: target.recipient,
    id,
    subject: content.title,
    text: textMail(content),
    html: htmlMail(content),
  };
  return outcomeOf(mailer.send(ctx, mail));
}
