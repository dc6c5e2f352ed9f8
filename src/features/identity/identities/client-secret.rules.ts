import * as z from 'zod';
import { pageRules } from '../../../kernel/paging.js';
import { idOf, storedText } from '../../../kernel/text-rules.js';
import { ttlSeconds, usesLimit } from './auth-configuration.rules.js';

const identityId = idOf('machine identity');

/** Input of `createClientSecret`: without limits it works until it is revoked. */
export const CreateClientSecret = z
  .strictObject({
    identityId: idOf('ID of the machine identity. It must have universal authentication attached.'),
    description: storedText(255)
      .default('')
      .meta({ description: 'Description of the client secret, up to 255 characters.' }),
    ttl: ttlSeconds.default(0).meta({ description: 'Lifetime in seconds, 0 to 315360000. 0: no limit.' }),
    numUsesLimit: usesLimit.default(0).meta({ description: 'Maximum number of logins. 0: no limit.' }),
  })
  .meta({ description: 'Fields of the new client secret.' });

/** Input of `revokeClientSecret`, and arguments of `clientSecret`. */
export const OneClientSecret = z
  .strictObject({
    id: idOf('client secret'),
    identityId: idOf(
      'ID of the machine identity that the client secret must belong to. Default: any identity.',
    ).nullish(),
  })
  .meta({ description: 'The client secret to revoke, by ID.' });

/** Arguments of `clientSecrets`. */
export const ListClientSecrets = z.strictObject({ identityId, ...pageRules });
