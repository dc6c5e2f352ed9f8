import { declareDetailCodes } from '../../../kernel/detail-codes.js';
import { AppError } from '../../../kernel/errors.js';
import type { OutboundError } from '../../../kernel/outbound/outbound-error.js';

/** Why an outside system could not be asked, or refused. Those of `OutboundError` keep their names. */
const CODES = declareDetailCodes({
  TARGET_REFUSED: 'It is in a private network or on this machine, which the operator does not allow.',
  TARGET_UNREACHABLE: 'The outside system cannot be reached.',
  TARGET_TIMED_OUT: 'The outside system took too long.',
  TARGET_CERTIFICATE: 'The certificate of the outside system is not valid for it.',
  TARGET_RESPONSE_INVALID: 'The response of the outside system is malformed or too large.',
  TARGET_REJECTED: 'The outside system rejected the request.',
  CREDENTIALS_REJECTED: 'The outside system does not accept the credentials.',
  ACCOUNT_LOCKED: 'The account is locked.',
  ACCOUNT_DISABLED: 'The account is disabled.',
  PASSWORD_EXPIRED: 'The password has expired.',
  PASSWORD_POLICY: 'The outside system does not allow such a password.',
  PERMISSION_MISSING: 'The credentials do not allow this.',
  TARGET_NOT_FOUND: 'The outside system has no such thing, or does not show it to these credentials.',
  TOOL_MISSING: 'A program that the service needs for this is not installed.',
  PROTOCOL_UNSUPPORTED: 'The outside system does not speak the protocol, or only without encryption.',
});
export type TargetCode = keyof typeof CODES;

declare module '../../../kernel/detail-codes.js' {
  interface DetailCodes {
    readonly targets: TargetCode;
  }
}

/** Whether an outside system has changed nothing, or may have done what it was asked for all the same. */
export type Certainty = 'unchanged' | 'unknown';

const MAX_MESSAGE = 200;

/**
 * An outside system that could not be asked, or refused. Its message can be stored and shown: it is one of ours, at most 200 characters,
 * and holds nothing that was sent or received.
 */
export class TargetFailure extends Error {
  /**
   * @param certainty `unknown`: what was asked for may have been done all the same
   * @param retryAfterSeconds how long the outside system asks to wait; null: it does not say
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
}

/** Failures before anything was sent. */
const NOT_SENT: ReadonlySet<string> = new Set(['TARGET_REFUSED', 'TARGET_CERTIFICATE']);
const NOT_CONNECTED = /^(ECONNREFUSED|ENOTFOUND|EAI_[A-Z]+|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/;

/**
 * What a call that had no response is to its caller.
 *
 * @param changes whether the call was to change something: then it is not known what became of it once it was sent
 */
export function unanswered(
  { code, reason, isTemporary }: OutboundError,
  { changes }: { changes: boolean },
): TargetFailure {
  const known = code in CODES ? (code as TargetCode) : 'TARGET_UNREACHABLE';
  const isUnsent = NOT_SENT.has(code) || (code === 'TARGET_UNREACHABLE' && NOT_CONNECTED.test(reason ?? ''));
  return new TargetFailure(known, changes && !isUnsent ? 'unknown' : 'unchanged', CODES[known], null, isTemporary);
}

/** Codes of those that were not reached, in contrast to those that refused. */
const NOT_REACHED: ReadonlySet<TargetCode> = new Set([
  'TARGET_UNREACHABLE',
  'TARGET_TIMED_OUT',
  'TARGET_CERTIFICATE',
  'TARGET_RESPONSE_INVALID',
  'TOOL_MISSING',
]);

/** Codes of those that said no. */
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

/** Whether an outside system has said no, and will again. Others may be well, and only out of reach. */
export const isRefusal = ({ code, isTemporary }: TargetFailure): boolean => REFUSALS.has(code) && !isTemporary;

/**
 * The refusal of a request that needed an outside system: 502 with the code of the failure at `path`, or 422 for a target that may not
 * be called.
 */
export function refusalOf(failure: TargetFailure, path: string): AppError {
  const { code, message } = failure;
  const isPrivate = code === 'TARGET_REFUSED';
  const detail = isPrivate
    ? { path, code: 'PRIVATE_TARGET' as const, message: 'must not be in a private network, nor on this machine' }
    : { path, code, message };
  const coded = NOT_REACHED.has(code) ? 'UPSTREAM_UNREACHABLE' : 'UPSTREAM_REJECTED';
  return new AppError(isPrivate ? 'VALIDATION_FAILED' : coded, undefined, { details: [detail], cause: failure });
}
