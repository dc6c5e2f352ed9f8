import { z } from 'zod';
import { idOf } from '../../../kernel/text-rules.js';
import { organizationSlug } from '../../organizations/public.js';

/** Input of `logInWithUniversalAuth`. What is no client id or no client secret is not right, and is no fault of the request. */
export const LogIn = z
  .strictObject({
    clientId: idOf('Client ID of the identity.').max(1_000),
    clientSecret: z.string().max(1_000).meta({ description: 'A client secret of the identity, `srs_...`.' }),
    organizationSlug: organizationSlug
      .nullish()
      .meta({ description: 'Slug of the sub-organization to scope the token to.' }),
  })
  .meta({ description: 'What a machine identity logs in with.' });
