import { z } from 'zod';
import { pageRules } from '../../../kernel/paging.js';
import { idOf, storedText } from '../../../kernel/text-rules.js';
import { ttlSeconds, usesLimit } from '../token-auth.rules.js';

const identityId = idOf('machine identity');

/** Input of `createClientSecret`: without limits it works until it is revoked. Source: behaviour 3.3. */
export const CreateClientSecret = z
  .strictObject({
    identityId: idOf('The machine identity. Universal authentication must be attached to it.'),
    description: storedText(255).default('').meta({ description: 'What people write about it, up to 255 characters.' }),
    ttl: ttlSeconds.default(0).meta({ description: 'Seconds that it lives, 0 to 315360000; 0 for no limit.' }),
    numUsesLimit: usesLimit.default(0).meta({ description: 'How many logins can be made with it; 0 for no limit.' }),
  })
  .meta({ description: 'A new client secret of a machine identity.' });

/** Input of `revokeClientSecret`, and arguments of `clientSecret`. */
export const OneClientSecret = z
  .strictObject({ id: idOf('client secret'), identityId: idOf('Only of this machine identity.').nullish() })
  .meta({ description: 'Which client secret.' });

/** Arguments of `clientSecrets`. */
export const ListClientSecrets = z.strictObject({ identityId, ...pageRules });
