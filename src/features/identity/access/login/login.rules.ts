import * as z from 'zod';
import { idOf } from '../../../../kernel/text-rules.js';
import { organizationSlug } from '../../organizations/public.js';

/** Input of `logInWithUniversalAuth`. A malformed client ID or client secret is a wrong one, not a validation error. */
export const LogIn = z
  .strictObject({
    clientId: idOf('Client ID of the identity.').max(1_000),
    clientSecret: z.string().max(1_000).meta({ description: 'Client secret of the identity, `srs_...`.' }),
    organizationSlug: organizationSlug
      .nullish()
      .meta({ description: 'Slug of the sub-organization to scope the token to.' }),
  })
  .meta({ description: 'The credentials of the machine identity.' });
