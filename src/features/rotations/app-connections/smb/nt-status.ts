import type { TargetCode } from '../kind/target-failure.js';

/** Meaning of a status of an SMB server. */
export interface StatusMeaning {
  readonly code: TargetCode;
  /** For people; the status is appended. */
  readonly message: string;
  /** Whether the same call may succeed later. */
  readonly isTemporary: boolean;
  /** Whether the status proves that the server did not carry out the request. */
  readonly isRefusal: boolean;
}

const refusal = (code: TargetCode, message: string, isTemporary = false): StatusMeaning => ({
  code,
  message,
  isTemporary,
  isRefusal: true,
});
/** A network failure, which can happen at any point. */
const interruption = (code: TargetCode, message: string): StatusMeaning => ({
  code,
  message,
  isTemporary: true,
  isRefusal: false,
});

const REJECTED = refusal('CREDENTIALS_REJECTED', 'The server rejected the user name or password');
const UNKNOWN_ACCOUNT = refusal('TARGET_NOT_FOUND', 'The server has no account with this name');
const EXPIRED = refusal('PASSWORD_EXPIRED', 'The password has expired or must be changed by an administrator');
const POLICY = refusal('PASSWORD_POLICY', 'The password policy of the server does not allow the new password');
const TOO_RECENT = refusal('PASSWORD_POLICY', 'The server does not allow a change of this password yet', true);
const NO_LOGIN = refusal('PERMISSION_MISSING', 'The server does not allow this account to log in now or from here');
const TOO_OLD = refusal('PROTOCOL_UNSUPPORTED', 'The server does not support encrypted SMB 3 or this operation');
const UNREACHABLE = interruption('TARGET_UNREACHABLE', 'The server cannot be reached');
const SILENT = interruption('TARGET_TIMED_OUT', 'The server took too long');

const MEANINGS: Readonly<Record<string, StatusMeaning>> = {
  LOGON_FAILURE: REJECTED,
  WRONG_PASSWORD: REJECTED,
  NONE_MAPPED: UNKNOWN_ACCOUNT,
  NO_SUCH_USER: UNKNOWN_ACCOUNT,
  ACCESS_DENIED: refusal('PERMISSION_MISSING', 'The server does not allow this account to do that'),
  PRIVILEGE_NOT_HELD: refusal('PERMISSION_MISSING', 'The server does not allow this account to do that'),
  ACCOUNT_LOCKED_OUT: refusal('ACCOUNT_LOCKED', 'The account is locked', true),
  ACCOUNT_DISABLED: refusal('ACCOUNT_DISABLED', 'The account is disabled'),
  ACCOUNT_EXPIRED: refusal('ACCOUNT_DISABLED', 'The account has expired'),
  PASSWORD_MUST_CHANGE: EXPIRED,
  PASSWORD_EXPIRED: EXPIRED,
  PASSWORD_RESTRICTION: POLICY,
  ILL_FORMED_PASSWORD: POLICY,
  PWD_TOO_SHORT: POLICY,
  PWD_HISTORY_CONFLICT: POLICY,
  PWD_TOO_RECENT: TOO_RECENT,
  ACCOUNT_RESTRICTION: TOO_RECENT,
  INVALID_LOGON_HOURS: NO_LOGIN,
  INVALID_WORKSTATION: NO_LOGIN,
  LOGON_TYPE_NOT_GRANTED: NO_LOGIN,
  NOT_SUPPORTED: TOO_OLD,
  NOT_IMPLEMENTED: TOO_OLD,
  RPC_PROCNUM_OUT_OF_RANGE: TOO_OLD,
  INVALID_NETWORK_RESPONSE: TOO_OLD,
  CONNECTION_REFUSED: UNREACHABLE,
  CONNECTION_RESET: UNREACHABLE,
  CONNECTION_DISCONNECTED: UNREACHABLE,
  CONNECTION_ABORTED: UNREACHABLE,
  HOST_UNREACHABLE: UNREACHABLE,
  NETWORK_UNREACHABLE: UNREACHABLE,
  UNSUCCESSFUL: UNREACHABLE,
  IO_TIMEOUT: SILENT,
};

/**
 * The meaning of a status; unknown ones are temporary failures.
 *
 * @param status without `NT_STATUS_`
 */
export const meaningOf = (status: string): StatusMeaning => {
  const known = Object.hasOwn(MEANINGS, status) ? MEANINGS[status] : undefined;
  return known ?? interruption('TARGET_REJECTED', 'The server rejected the request');
};
