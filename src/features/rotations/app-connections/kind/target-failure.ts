import { declareDetailCodes } from '../../../../kernel/detail-codes.js';
import { AppError } from '../../../../kernel/errors.js';
import type { OutboundError } from '../../../../kernel/outbound/outbound-error.js';

/** Why a call to an external system failed. Codes of `OutboundError` keep their names. */
const CODES = declareDetailCodes({
  TARGET_REFUSED: 'The target is in a private network or on this machine, which the operator does not allow.',
  TARGET_UNREACHABLE: 'The external system cannot be reached.',
  TARGET_TIMED_OUT: 'The external system took too long.',
  TARGET_CERTIFICATE: 'The TLS certificate of the external system is not valid for it.',
  TARGET_RESPONSE_INVALID: 'The response of the external system is malformed or too large.',
  TARGET_REJECTED: 'The external system rejected the request.',
  CREDENTIALS_REJECTED: 'The external system does not accept the credentials.',
  ACCOUNT_LOCKED: 'The account is locked.',
  ACCOUNT_DISABLED: 'The account is disabled.',
  PASSWORD_EXPIRED: 'The password has expired.',
  PASSWORD_POLICY: 'The password policy of the external system does not allow this password.',
  PERMISSION_MISSING: 'The credentials lack the permission for this operation.',
  TARGET_NOT_FOUND:
    'The resource does not exist in the external system, or the credentials have no permission to see it.',
  TOOL_MISSING: 'A program that the service needs for this operation is not installed.',
  PROTOCOL_UNSUPPORTED: 'The external system does not support the protocol, or only without encryption.',
});
export type TargetCode = keyof typeof CODES;

declare module '../../../../kernel/detail-codes.js' {
  interface DetailCodes {
    readonly targets: TargetCode;
  }
}

/**
 * What a failed call has changed. `unchanged`: nothing. `unknown`: it may have taken effect. `refused`: the response says that it did not,
 * which is no proof, because something between may have written it.
 */
type Certainty = 'unchanged' | 'unknown' | 'refused';

const MAX_MESSAGE = 200;

/**
 * A failed call to an external system. Its message can be stored and shown: it is written by us, has at most 200 characters and contains
 * nothing that was sent or received.
 */
export class TargetFailure extends Error {
  /**
   * @param retryAfterSeconds delay that the external system requests; null: none
   * @param isTemporary whether the same call may succeed later
   */
  constructor(
    readonly code: TargetCode,
    readonly certainty: Certainty,
    message: string = CODES[code],
    readonly retryAfterSeconds: number | null = null,
    readonly isTemporary: boolean = false,
  ) {
    super(message.slice(0, MAX_MESSAGE));
    this.name = 'TargetFailure';
  }

  /** The same failure, of which more is known. */
  as(certainty: Certainty): TargetFailure {
    return new TargetFailure(this.code, certainty, this.message, this.retryAfterSeconds, this.isTemporary);
  }
}

/** Failures before anything was sent. */
const NOT_SENT: ReadonlySet<string> = new Set(['TARGET_REFUSED', 'TARGET_CERTIFICATE']);
const NOT_CONNECTED = /^(ECONNREFUSED|ENOTFOUND|EAI_[A-Z]+|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/;

/**
 * Converts a call without a response to a failure.
 *
 * @param changes whether the call changes something: once it was sent, its result is unknown
 */
export function failureWithoutResponse(
  { code, reason, isTemporary }: OutboundError,
  { changes }: { changes: boolean },
): TargetFailure {
  const known = code in CODES ? (code as TargetCode) : 'TARGET_UNREACHABLE';
  const isUnsent = NOT_SENT.has(code) || (code === 'TARGET_UNREACHABLE' && NOT_CONNECTED.test(reason ?? ''));
  return new TargetFailure(known, changes && !isUnsent ? 'unknown' : 'unchanged', CODES[known], null, isTemporary);
}

/** Codes of systems that did not respond. */
const NOT_REACHED: ReadonlySet<TargetCode> = new Set([
  'TARGET_UNREACHABLE',
  'TARGET_TIMED_OUT',
  'TARGET_CERTIFICATE',
  'TARGET_RESPONSE_INVALID',
  'TOOL_MISSING',
]);

/** Codes of systems that refused. */
const REFUSALS: ReadonlySet<TargetCode> = new Set([
  'TARGET_REFUSED',
  'TARGET_REJECTED',
  'CREDENTIALS_REJECTED',
  'ACCOUNT_LOCKED',
  'ACCOUNT_DISABLED',
  'PASSWORD_EXPIRED',
  'PASSWORD_POLICY',
  'PERMISSION_MISSING',
  'TARGET_NOT_FOUND',
  'PROTOCOL_UNSUPPORTED',
]);

/** Whether an external system refused permanently, in contrast to a temporary or unknown failure. */
export const isRefusal = ({ code, isTemporary }: TargetFailure): boolean => REFUSALS.has(code) && !isTemporary;

/**
 * The error of a request that needed an external system: 502 with the code of the failure at `path`, or 422 if the target must not be
 * called.
 */
export function refusalOf(failure: TargetFailure, path: string): AppError {
  const { code, message } = failure;
  const isPrivate = code === 'TARGET_REFUSED';
  const detail = isPrivate
    ? { path, code: 'PRIVATE_TARGET' as const, message: 'must not be a private network address or this machine' }
    : { path, code, message };
  const coded = NOT_REACHED.has(code) ? 'UPSTREAM_UNREACHABLE' : 'UPSTREAM_REJECTED';
  return new AppError(isPrivate ? 'VALIDATION_FAILED' : coded, undefined, { details: [detail], cause: failure });
}
