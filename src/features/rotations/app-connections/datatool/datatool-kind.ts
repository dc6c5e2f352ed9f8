import * as z from 'zod';
import { SealedText } from '../../../../kernel/crypto/sealed-text.js';
import { isPrivateHost } from '../../../../kernel/outbound/target-addresses.js';
import type { ConnectionKind } from '../kind/connection-kind.js';
import { DatatoolClient, type DatatoolCredentials } from './datatool-client.js';

const MAX_URL = 2_048;

/** Parses a URL with a host and without user name and password; null if the string is none. */
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
      .refine((text) => addressOf(text) !== null, {
        error: 'must be a URL that starts with https://, without user name and password',
        params: { code: 'INVALID_FORMAT' },
      })
      .meta({
        description:
          'Access URL of the account, for example `https://ab123.us1.example.com`. Only scheme, host and port are used. Hosts in private networks are refused unless the operator allows them.',
      }),
    accountId: z
      .string()
      .trim()
      .regex(/^\d{1,20}$/, 'must be an account number of 1 to 20 digits')
      .meta({ description: 'Account number, as a string of digits.' }),
  })
  .meta({ description: 'A datatool account.' });

const secretRules = z.strictObject({
  apiToken: z
    .string()
    .trim()
    .min(1)
    .max(255)
    .regex(/^[\x21-\x7e]*$/, 'must be printable ASCII without spaces')
    .meta({ description: 'Service token or personal token, up to 255 characters. Never returned.' }),
});

/** Datatool accounts, by API token. */
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
  systemOf: ({ instanceUrl, accountId }) =>
    `${new URL(instanceUrl).origin.replace(/\.(?=:\d+$|$)/, '')}, account ${BigInt(accountId)}`,
  targetViolation: ({ instanceUrl }, { allowPrivateTargets }) => {
    const url = addressOf(instanceUrl);
    if (url === null || allowPrivateTargets) return null;
    if (url.protocol !== 'https:') return { code: 'INVALID_FORMAT', message: 'must start with https://' };
    return isPrivateHost(url.hostname)
      ? { code: 'PRIVATE_TARGET', message: 'must not be a private network address or this machine' }
      : null;
  },
  check: async (ctx, credentials, policy) => {
    await new DatatoolClient(credentials, policy).account(ctx);
    // Each token is an account of its own.
    return credentials.apiToken;
  },
};

/** The credentials of a decrypted connection. @throws Error if it is of another app */
export function datatoolCredentialsOf(opened: Readonly<Record<string, unknown>>): DatatoolCredentials {
  const { instanceUrl, accountId, apiToken } = opened;
  if (!(apiToken instanceof SealedText)) throw new Error('the connection is of another app');
  return { instanceUrl: String(instanceUrl), accountId: String(accountId), apiToken };
}
