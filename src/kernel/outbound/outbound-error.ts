import { codeOf } from '../log.js';

const MESSAGES = {
  TARGET_REFUSED: 'The target address is not allowed.',
  TARGET_UNREACHABLE: 'The target cannot be reached.',
  TARGET_TIMED_OUT: 'The target did not respond in time.',
  TARGET_CERTIFICATE: 'The TLS certificate of the target is invalid.',
  TARGET_RESPONSE_INVALID: 'The response of the target is malformed or too large.',
  TARGET_REJECTED: 'The target rejected the request.',
  MAIL_NOT_CONFIGURED: 'No mail server is configured.',
  MAIL_NOT_ENCRYPTED: 'The mail server does not offer valid TLS encryption.',
  MAIL_LOGIN_REJECTED: 'The mail server rejected the login.',
} as const;

/** Why a call to an external system failed. */
export type OutboundCode = keyof typeof MESSAGES;

/** Failures that the same call meets again. */
const PERMANENT: ReadonlySet<OutboundCode> = new Set(['TARGET_REFUSED', 'MAIL_NOT_CONFIGURED']);

/** Verification errors of OpenSSL, and that of Node for the name. */
const CERTIFICATE = /CERT|CRL|^UNABLE_TO_|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH|HOSTNAME_MISMATCH/;
/** Those of the network, and what an aborted call fails with: only a time limit aborts one. */
const TIMED_OUT = /TIMEDOUT|_TIMEOUT$|^ABORT_ERR$|^EABORT$/;

interface OutboundErrorOptions {
  /** Status of an HTTP response, or reply code of a mail server. */
  readonly status?: number;
  /** Code of the system, of TLS or of the parser. */
  readonly reason?: string | null;
  /** How long the target asks to wait. */
  readonly retryAfterSeconds?: number | null;
  /** Whether the same call may succeed later. */
  readonly isTemporary?: boolean;
}

/**
 * A call to an external system that failed. Carries codes only: not the address, what was sent, or what came back.
 */
export class OutboundError extends Error {
  readonly status: number | null;
  readonly reason: string | null;
  readonly retryAfterSeconds: number | null;
  /** Whether the same call may succeed later. */
  readonly isTemporary: boolean;

  constructor(
    readonly code: OutboundCode,
    options: OutboundErrorOptions = {},
  ) {
    super(MESSAGES[code]);
    this.name = 'OutboundError';
    this.status = options.status ?? null;
    this.reason = options.reason ?? null;
    this.retryAfterSeconds = options.retryAfterSeconds ?? null;
    this.isTemporary = options.isTemporary ?? !PERMANENT.has(code);
  }
}

/** The code for an error of a socket, of TLS or of name resolution. */
export function networkError(error: Error, reason: string | null = codeOf(error)): OutboundError {
  if (error instanceof OutboundError) return error;
  const known = reason ?? '';
  if (TIMED_OUT.test(known)) return new OutboundError('TARGET_TIMED_OUT', { reason });
  if (CERTIFICATE.test(known)) return new OutboundError('TARGET_CERTIFICATE', { reason });
  if (known.startsWith('HPE_')) return new OutboundError('TARGET_RESPONSE_INVALID', { reason });
  return new OutboundError('TARGET_UNREACHABLE', { reason });
}
