import { z } from 'zod';
import type { DetailCode } from '../../../kernel/detail-codes.js';
import { integer } from '../../../kernel/int.js';

/** `may hold letters`, as a refusal with the code of a malformed value. */
const form = (said: string): { error: string; params: { code: DetailCode } } => ({
  error: `must ${said}`,
  params: { code: 'INVALID_FORMAT' },
});

/** Text that is matched as a whole. */
const matching = (max: number, pattern: RegExp, said: string) =>
  z
    .string()
    .trim()
    .min(1)
    .max(max)
    .refine((text) => pattern.test(text), form(said));

/** What a tool that reads lines carries to a server: no control characters, nor half characters. Source: rotation-targets A3. */
export const isCarriedPassword = (text: string): boolean => !/\p{Cc}/u.test(text) && text.isWellFormed();

const MAX_PASSWORD = 256;

/** A password that a server has already: as it was sent, untrimmed. */
export const knownPassword = z
  .string()
  .min(1)
  .max(MAX_PASSWORD)
  .refine(isCarriedPassword, { error: 'must be well-formed text without control characters' });

/** The credentials of an SMB connection that are shown. Source: behaviour 8.7, rotation-targets A7. */
export const SmbPublic = z
  .strictObject({
    host: matching(
      253,
      /^[A-Za-z0-9][A-Za-z0-9.-]*$/,
      'be letters, digits, dots and hyphens, of which the first is a letter or digit',
    ).meta({
      description:
        'Name or IPv4 address of the server, up to 253 characters. Not in a private network unless the operator allows it.',
    }),
    port: integer(1, 65_535).meta({ description: 'Port of SMB on the server, mostly 445.' }),
    domain: matching(
      255,
      /^[A-Za-z0-9_.][A-Za-z0-9_.-]*$/,
      'be letters, digits, dots, hyphens and underscores, of which the first is no hyphen',
    )
      .nullish()
      .meta({ description: 'Domain of the account; absent or null: the account is one of the server itself.' }),
    username: matching(
      104,
      /^[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_-])?$/,
      'be letters, digits, dots, hyphens and underscores, with no dot or hyphen first and no dot last',
    ).meta({ description: 'Name of the account without its domain, up to 104 characters.' }),
  })
  .meta({ description: 'An account of a Windows or Samba server.' });

/** The credentials of an SMB connection that are sealed. */
export const SmbSecret = z.strictObject({
  password: knownPassword.meta({
    description: `Password of the account, up to ${MAX_PASSWORD} characters. Never shown.`,
  }),
});
