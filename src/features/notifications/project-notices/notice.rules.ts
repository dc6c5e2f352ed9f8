import * as z from 'zod';
import { idOf } from '../../../kernel/value-rules.js';
import { MessagePage, RETRIED } from '../deliveries/public.js';

/** Kinds of notices. */
export const NOTICE_KINDS = [
  'secret-reminder',
  'credential-expiry',
  'credential-change',
  'project-rescue',
  'certificate-request-failure',
  'connection-failure',
  'rotation-failure',
  'delivery-failure',
] as const;
export type NoticeKind = (typeof NOTICE_KINDS)[number];

export const noticeKind = z.enum(NOTICE_KINDS);

/** The content of a notice. Strings may hold anything except secret values. */
export const NoticeFacts = z.object({
  /** Name of the subject, such as a secret. */
  name: z.string(),
  /** By label. */
  fields: z.record(z.string(), z.string()),
  /** When the subject expires, if it does. */
  expiresAt: z.string().optional(),
  /** Users who get their own email, as long as they are members. */
  recipientIds: z.array(z.string()).optional(),
});
export type NoticeFacts = z.output<typeof NoticeFacts>;

/** Whether a username is an email address. */
export const hasAddress = ({ username }: { readonly username: string }): boolean => z.regexes.email.test(username);

const id = idOf('message');
const projectId = idOf('project that the message must belong to').nullish();

/** Arguments of `notificationMessages`. */
export const ListMessages = MessagePage.extend({
  projectId: idOf('project'),
  channelId: idOf('ID of a notification channel of the project: only its messages.').nullish(),
});

/** Arguments of `notificationMessage`. */
export const OneMessage = z.strictObject({ id, projectId });

/** Input of `retryNotificationMessage`. */
export const RetryMessage = z.strictObject({ id, projectId }).meta({ description: 'The notification message, by ID.' });

/** Input of `retryNotificationMessages`. */
export const RetryMessages = z
  .strictObject({ projectId: idOf('project'), ...RETRIED })
  .meta({ description: 'Which failed and cancelled notification messages to retry.' });
