import { z } from 'zod';
import { organizationSlug } from '../organizations/public.js';

/** Input of `logInWithUniversalAuth`. What is no client id or no client secret is not right, and is no fault of the request. */
export const LogIn = z.strictObject({
  clientId: z.string().max(1_000),
  clientSecret: z.string().max(1_000),
  organizationSlug: organizationSlug.nullish(),
});
