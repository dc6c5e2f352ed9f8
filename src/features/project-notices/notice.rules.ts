import { z } from 'zod';

/** What projects are notified of. */
export const NOTICE_KINDS = [
  'secret-reminder',
  'credential-expiry',
  'credential-change',
  'project-rescue',
  'certificate-request-failure',
  'connection-failure',
  'rotation-failure',
] as const;
export type NoticeKind = (typeof NOTICE_KINDS)[number];

export const noticeKind = z.enum(NOTICE_KINDS);

/** What a notice says. Texts may hold anything but the value of a secret. */
export const NoticeFacts = z.object({
  /** What it is about, such as a secret. */
  name: z.string(),
  /** By their labels. */
  fields: z.record(z.string(), z.string()),
  /** When that expires, if it does. */
  expiresAt: z.string().optional(),
  /** Users who get a mail of their own, as long as they are members. */
  recipientIds: z.array(z.string()).optional(),
});
export type NoticeFacts = z.output<typeof NoticeFacts>;
