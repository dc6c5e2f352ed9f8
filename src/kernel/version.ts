import { AppError } from './errors.js';
import { integer } from './int.js';

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
