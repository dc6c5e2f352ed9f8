import * as z from 'zod';
import { AppError } from './errors.js';

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

/** The largest version that a request can name, of whatever has versions. */
export const MAX_VERSION = 999_999_999;

/** The version of what an input changes, as its caller has seen it. */
export const expectedVersion = integer(1, MAX_VERSION).nullish().meta({
  description:
    'The version that you read. If the resource has another version by now, nothing changes and the error is CONCURRENT_CHANGE.',
});

/** @throws CONCURRENT_CHANGE that names the present version */
export function refuseOtherVersion(version: number, expected: number | null | undefined): void {
  if (expected == null || expected === version) return;
  throw new AppError('CONCURRENT_CHANGE', `The resource is at version ${version}. Read it again and retry.`, {
    details: [{ path: 'expectedVersion', code: 'CONCURRENT_CHANGE', message: `must be ${version}` }],
  });
}
