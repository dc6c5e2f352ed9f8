import * as z from 'zod';

/** The largest `Int` of GraphQL. */
const MAX_INT = 2_147_483_647;

/** A stored count as an `Int`. Postgres counts further: whatever is beyond `Int` is shown as its largest value. */
export const toInt = (count: string): number => Math.min(Number(count), MAX_INT);

/**
 * Rules of a whole number within bounds that are both inclusive. The message of a number outside of them names both.
 *
 * @param min the smallest number
 * @param max the largest number
 */
export function integer(min: number, max: number) {
  const error = `must be between ${min} and ${max}`;
  // Numbers that JavaScript cannot hold exactly fail the check of the type itself.
  const ofType = ({ code }: { readonly code: string }) => (code === 'invalid_type' ? undefined : error);
  return z.int({ error: ofType }).min(min, { error }).max(max, { error });
}
