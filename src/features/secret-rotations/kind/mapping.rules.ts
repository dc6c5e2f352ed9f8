import { secretKey } from '../../secrets/public.js';

/** Key of the secret that holds something. */
export const secretKeyOf = (what: string) =>
  secretKey.meta({
    description: `Key of the secret that holds ${what}. The rotation makes it, and nobody else writes it.`,
  });
