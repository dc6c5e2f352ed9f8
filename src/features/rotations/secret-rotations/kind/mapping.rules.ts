import { secretKey } from '../../../secrets/public.js';

/** The key of a mapped secret. */
export const secretKeyOf = (what: string) =>
  secretKey.meta({
    description: `Key of the secret that holds ${what}. The rotation creates the secret; nobody else can write it.`,
  });
