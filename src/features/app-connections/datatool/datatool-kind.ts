import { z } from 'zod';
import { SealedText } from '../../../kernel/crypto/sealed-text.js';
import { isPrivateHost } from '../../../kernel/outbound/private-targets.js';
import { isStorable } from '../../../kernel/text-rules.js';
import type { ConnectionKind } from '../kind/connection-kind.js';
import { DatatoolClient, type DatatoolCredentials } from './datatool-client.js';

const MAX_URL = 2_048;

/** The address of a text with a host and nothing to log in with; null for any other text. */
function addressOf(text: string): URL | null {
  const url = /^https?:\/\/[^\s\p{Cc}]+$/iu.test(text) && URL.canParse(text) ? new URL(text) : null;
  return url !== null && url.hostname !== '' && url.username === '' && url.password === '' ? url : null;
}

const publicRules = z
  .strictObject({
    instanceUrl: z
      .string()
      .trim()
      .max(MAX_URL)
      .refine((text) => isStorable(text) && addressOf(text) !== null, {
        error: 'must be an address that starts with https://, without a user or a password in it',
        params: { code: 'INVALID_FORMAT' },
      })
      .meta({
        description:
          'Access URL of the account, such as `https://ab123.us1.example.com`. Of it scheme, host and port are used. Not in a private network unless the operator allows it.',
      }),
    accountId: z
      .string()
      .trim()
      .regex(/^\d{1,20}$/, 'must be the number of the account')
      .meta({ description: 'Number of the account, as digits.' }),
  })
  .meta({ description: 'An account of the analytics tool.' });

const secretRules = z.strictObject({
  apiToken: z
    .string()
    .trim()
    .min(1)
    .max(255)
    .regex(/^[\x21-\x7e]*$/, 'must be printable ASCII without blanks')
    .meta({ description: 'A service token or personal token, up to 255 characters. Never shown.' }),
});

/** Accounts of the analytics tool, by an API token. Source: specification, App connection; rotation targets B. */
export const DATATOOL: ConnectionKind<'datatool', typeof publicRules, typeof secretRules> = {
  app: 'datatool',
  title: 'Analytics tool',
  description: 'The analytics tool.',
  method: 'api-token',
  publicRules,
  secretRules,
  example: { instanceUrl: 'https://ab123.us1.example.com', accountId: '70403', apiToken: 'example-token' },
  isOfInterface: true,
  targetField: 'instanceUrl',
  targetOf: ({ instanceUrl }) => new URL(instanceUrl).origin,
  targetFault: ({ instanceUrl }, { allowPrivateTargets }) => {
    const url = addressOf(instanceUrl);
    if (url === null || allowPrivateTargets) return null;
    if (url.protocol !== 'https:') return { code: 'INVALID_FORMAT', message: 'must start with https://' };
    return isPrivateHost(url.hostname)
      ? { code: 'PRIVATE_TARGET', message: 'must not be in a private network, nor on this machine' }
      : null;
  },
  check: (ctx, credentials, policy) => new DatatoolClient(credentials, policy).account(ctx),
};

/** The credentials of an opened connection. @throws Error for one of another app */
export function datatoolCredentialsOf(opened: Readonly<Record<string, unknown>>): DatatoolCredentials {
  const { instanceUrl, accountId, apiToken } = opened;
  if (!(apiToken instanceof SealedText)) throw new Error('the connection is of another app');
  return { instanceUrl: String(instanceUrl), accountId: String(accountId), apiToken };
}
