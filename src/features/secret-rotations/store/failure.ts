import { AppError } from '../../../kernel/errors.js';
import { LeaseLost } from '../../../kernel/jobs/job-kind.js';
import { TargetFailure } from '../../app-connections/public.js';

/** Failures that say that the target does not take our own credentials: trying again may lock an account. */
const REFUSALS: readonly string[] = [
  'CREDENTIALS_REJECTED',
  'ACCOUNT_LOCKED',
  'ACCOUNT_DISABLED',
  'PASSWORD_EXPIRED',
  'PERMISSION_MISSING',
];

/** Whether the target refused our own credentials. */
export const isRefusal = ({ code }: { readonly code: string }): boolean => REFUSALS.includes(code);

/** What an attempt that ended says of the reason. */
export interface Reason {
  readonly code: string;
  /** It may be stored and shown: it has no value of ours. */
  readonly message: string;
}

/**
 * A failure of the target, of whatever was thrown while it was asked. What is no failure of the target is one whose outcome is not known.
 *
 * @throws the lease of the job, when that is lost: nothing may be written any more
 */
export function failureOf(error: unknown): TargetFailure {
  if (error instanceof LeaseLost) throw error;
  if (error instanceof TargetFailure) return error;
  const message =
    error instanceof AppError ? `${error.code}: ${error.message}` : 'The outside system could not be asked.';
  return new TargetFailure('TARGET_RESPONSE_INVALID', 'unknown', message, null, true);
}
