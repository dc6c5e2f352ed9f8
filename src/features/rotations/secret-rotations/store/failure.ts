import { isKeyDisabled } from '../../../../kernel/crypto/sealed-text.js';
import { AppError } from '../../../../kernel/errors.js';
import { LeaseLost } from '../../../../kernel/jobs/job-kind.js';
import { TargetFailure } from '../../app-connections/public.js';

/** Failures that say that the target rejects our own credentials: retries may lock an account. */
const REFUSALS: readonly string[] = [
  'CREDENTIALS_REJECTED',
  'ACCOUNT_LOCKED',
  'ACCOUNT_DISABLED',
  'PASSWORD_EXPIRED',
  'PERMISSION_MISSING',
];

/** Whether the target rejected our own credentials. */
export const isRefusal = ({ code }: { readonly code: string }): boolean => REFUSALS.includes(code);

/** The reason of a failed attempt. */
export interface Reason {
  readonly code: string;
  /** Can be stored and shown: it contains no secret. */
  readonly message: string;
}

/**
 * Converts anything thrown by a call to the target to a failure. An unexpected error counts as a call with an unknown result.
 *
 * @throws the error of a lost lease: nothing may be written any more; that of a disabled key: what needs it waits
 */
export function failureOf(error: unknown): TargetFailure {
  if (error instanceof LeaseLost || isKeyDisabled(error)) throw error;
  if (error instanceof TargetFailure) return error;
  const message =
    error instanceof AppError ? `${error.code}: ${error.message}` : 'The external system could not be called.';
  return new TargetFailure('TARGET_RESPONSE_INVALID', 'unknown', message, null, true);
}
