import { z } from 'zod';

/**
 * A word of the interface of which not every choice is built yet: the others are refused as such, never answered wrongly.
 *
 * @param supported the first is the default
 */
export const notYet = <const S extends readonly [string, ...string[]], const F extends readonly string[]>(
  supported: S,
  future: F,
) =>
  z
    .enum([...supported, ...future])
    .default(supported[0] as never)
    .refine((word) => (supported as readonly string[]).includes(word), {
      params: { code: 'NOT_SUPPORTED_YET' },
      error: `must be ${supported.join(' or ')}: the rest is not supported yet`,
    });
