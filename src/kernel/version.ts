import { AppError } from './errors.js';
import { integer } from './int.js';

/** The largest version that a request can name, of whatever has versions. */
export const MAX_VERSION = 999_999_999;

/** The version of what an input changes, as its caller has seen it. */
export const expectedVersion = integer(1, MAX_VERSION).nullish().meta({
  description: 'The version that you have seen; with another one nothing changes (CONCURRENT_CHANGE).',
});

/** @throws CONCURRENT_CHANGE that names the present version */
export function refuseOtherVersion(version: number, expected: number | null | undefined): void {
  if (expected == null || expected === version) return;
  throw new AppError('CONCURRENT_CHANGE', `This is at version ${version}; read it again and retry.`, {
    details: [{ path: 'expectedVersion', code: 'CONCURRENT_CHANGE', message: `must be ${version}` }],
  });
}
