import * as z from 'zod';

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
