import * as z from 'zod';
import type { DetailCode } from '../../../../kernel/detail-codes.js';
import { integer } from '../../../../kernel/value-rules.js';

/** Makes a rule for a string that is malformed otherwise; `said` completes the message `must ...`. */
const form = (said: string): { error: string; params: { code: DetailCode } } => ({
  error: `must ${said}`,
  params: { code: 'INVALID_FORMAT' },
});

/** Matches the whole string. */
const matching = (max: number, pattern: RegExp, said: string) =>
  z
    .string()
    .trim()
    .min(1)
    .max(max)
    .refine((text) => pattern.test(text), form(said));

/** Whether the tool, which reads lines, can pass the string on: no control characters and no lone surrogates. */
const isCarriedPassword = (text: string): boolean => !/\p{Cc}/u.test(text) && text.isWellFormed();

const MAX_PASSWORD = 256;

/** A current password of a server: as sent, untrimmed. */
export const currentPassword = z
  .string()
  .min(1)
  .max(MAX_PASSWORD)
  .refine(isCarriedPassword, { error: 'must be well-formed Unicode without control characters' });

/** The public credentials of an SMB connection. */
export const SmbPublic = z
  .strictObject({
    host: matching(
      253,
      /^[A-Za-z0-9][A-Za-z0-9.-]*$/,
      'consist of letters, digits, dots and hyphens, starting with a letter or digit',
    ).meta({
      description:
        'Host name or IPv4 address of the server, up to 253 characters. Private network addresses are refused unless the operator allows them.',
    }),
    port: integer(1, 65_535).meta({ description: 'SMB port of the server, usually 445.' }),
    domain: matching(
      255,
      /^[A-Za-z0-9_.][A-Za-z0-9_.-]*$/,
      'consist of letters, digits, dots, hyphens and underscores, not starting with a hyphen',
    )
      .nullish()
      .meta({ description: 'Domain of the account. Absent or null for a local account of the server.' }),
    username: matching(
      104,
      /^[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_-])?$/,
      'consist of letters, digits, dots, hyphens and underscores, not starting with a dot or hyphen and not ending with a dot',
    ).meta({ description: 'Account name without the domain, up to 104 characters.' }),
  })
  .meta({ description: 'An account of a Windows or Samba server.' });

/** The sealed credentials of an SMB connection. */
export const SmbSecret = z.strictObject({
  password: currentPassword.meta({
    description: `Password of the account, up to ${MAX_PASSWORD} characters. Never returned.`,
  }),
});
