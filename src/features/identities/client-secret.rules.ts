import { z } from 'zod';
import { pageRules } from '../../kernel/graphql/page.js';
import { storedText } from '../../kernel/text-rules.js';
import { ttlSeconds, usesLimit } from './token-auth.rules.js';

/** Input of `createClientSecret`: without limits it works until it is revoked. Source: behaviour 3.3. */
export const CreateClientSecret = z.strictObject({
  identityId: z.string(),
  description: storedText(255).default(''),
  ttl: ttlSeconds.default(0),
  numUsesLimit: usesLimit.default(0),
});

/** Names one client secret of an identity. */
export const OneClientSecret = z.strictObject({ identityId: z.string(), clientSecretId: z.string() });

/** Arguments of `clientSecrets`. */
export const ListClientSecrets = z.strictObject({ identityId: z.string(), ...pageRules });
