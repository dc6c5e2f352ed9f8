import { execFile } from 'node:child_process';
import type { SealedText } from '../../../../kernel/crypto/sealed-text.js';
import { type TargetCode, TargetFailure } from '../kind/target-failure.js';

/** Samba's client for MS-RPC. */
const TOOL = 'rpcclient';
/** Program folders of Linux and Homebrew. The tool inherits nothing from the environment of the service. */
const SEARCH_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/homebrew/bin';
const MAX_OUTPUT_BYTES = 65_536;

/** A login on a server. */
interface RpcLogin {
  readonly host: string;
  /** The checked IP address of the host; the tool connects to no other. */
  readonly address: string;
  readonly port: number;
  /** Null: a local account of the server. */
  readonly domain: string | null;
  readonly username: string;
  readonly password: SealedText;
}

/** Output of the tool. Never logged or shown: it may repeat passwords. */
interface RpcResult {
  readonly stdout: string;
  readonly stderr: string;
  /** Whether it was killed before it finished. */
  readonly isCut: boolean;
}

/** A word of a command. */
export type Word = string | SealedText;

/** Characters that a command line of the tool cannot contain: a line break would start a second command. */
const CONTROL = /\p{Cc}/u;

/**
 * Runs commands of the tool in one encrypted SMB 3 session. Passwords are passed in its environment and standard input, which other
 * users cannot read; arguments are public.
 *
 * @param searchPath folders to find the tool in
 * @throws TargetFailure TOOL_MISSING
 */
export async function runRpcTool(
  login: RpcLogin,
  commands: readonly (readonly Word[])[],
  limitMs: number,
  searchPath = SEARCH_PATH,
): Promise<RpcResult> {
  const { host, address, port, domain, username } = login;
  const input = commands.map((words) => `${words.map(quoted).join(' ')}\n`).join('');
  const args = [
    ...['-s', '/dev/null', '-p', String(port), '--use-kerberos=off', '--client-protection=encrypt'],
    '--option=client min protocol=SMB3_00',
    ...['-U', `${domain ?? '.'}\\${username}`, '-I', address, host],
  ];
  const env = { PATH: searchPath, LC_ALL: 'C.UTF-8', HOME: '/nonexistent', PASSWD: revealed(login.password) };
  return new Promise((resolve, reject) => {
    const options = { env, timeout: Math.ceil(limitMs), killSignal: 'SIGKILL', maxBuffer: MAX_OUTPUT_BYTES } as const;
    const child = execFile(TOOL, args, options, (error, stdout, stderr) => {
      // The message of the error contains all arguments.
      if (error?.code === 'ENOENT') reject(toolMissing());
      else resolve({ stdout, stderr, isCut: error !== null && typeof error.code !== 'number' });
    });
    // The tool may exit before it has read everything.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  });
}

const toolMissing = (): TargetFailure =>
  new TargetFailure(
    'TOOL_MISSING',
    'unchanged',
    'The program rpcclient is not installed on the host of Strongroom. On Debian, install the package smbclient.',
    null,
    true,
  );

/** @throws Error for a string that would become another word or command */
function revealed(word: Word): string {
  const text = typeof word === 'string' ? word : word.reveal();
  if (text === '' || CONTROL.test(text) || !text.isWellFormed())
    throw new Error('the string cannot be a word of a command');
  return text;
}

/** Only spaces, quotes and backslashes are special. Wrong quoting would set another password without an error. */
const quoted = (word: Word): string => revealed(word).replace(/[ '"\\]/g, '\\$&');

/** The request of a run, to interpret its output. */
interface RpcQuestion {
  /** The expected user, without a domain. */
  readonly username: string;
  /** Whether a command that changes something ran before the one that reports the user. */
  readonly isChange: boolean;
}

/** The result of a run. */
export interface RpcOutcome {
  /** Null if everything was done. */
  readonly failure: TargetFailure | null;
  /** The status of the failure, without `NT_STATUS_`. */
  readonly status: string | null;
  /** Whether there was a session, in which commands were sent. */
  readonly isLoggedIn: boolean;
  /** The machine or domain that has the account of the session. */
  readonly authority?: string | undefined;
  /** What `lookupnames` found, if it is a user of the machine or of a domain. */
  readonly sid?: string | undefined;
  /** The machine or domain of what `lookupsids` found. */
  readonly owner?: string | undefined;
}

/** The output of the last command of every run, which reports the user. */
const MARKER = /^Account Name: (?<name>.*), Authority Name: (?<authority>.*)$/m;
const SID = /^.+ (?<sid>S-1-5-21(?:-\d+){4}) \(User: \d+\)$/m;
const OWNER = /^S-1-5-21(?:-\d+){4} (?<owner>[^\\]+)\\.+ \(\d+\)$/m;
const RESULT = /^result was NT_STATUS_(?<status>\w{1,60})\b/;
const NOT_CONNECTED = /Cannot connect to server\. +Error was NT_STATUS_(?<status>\w{1,60})/;
/** Refused by the service that changes passwords before it was asked. */
const NOT_ASKED = /Could not initialise samr\. +Error was NT_STATUS_(?<status>\w{1,60})/;

/**
 * Interprets a run. The exit code is useless: it is 0 even if a command was refused. A run succeeded only if there is no error status
 * and the last command confirms the name of the account.
 */
export function outcomeOf(result: RpcResult, { username, isChange }: RpcQuestion): RpcOutcome {
  const { stdout, stderr } = result;
  const connecting = NOT_CONNECTED.exec(stderr)?.groups?.status;
  if (connecting !== undefined) return notConnectedFor(connecting, false);
  const steps = stepsIn(stdout);
  const [first, last] = [steps[0], steps.at(-1)];
  const notAsked = NOT_ASKED.exec(stderr)?.groups?.status;
  if (isChange && notAsked !== undefined && steps.every(({ name }) => name !== undefined))
    return notConnectedFor(notAsked, true);
  // Both commands must have output: otherwise a refusal may be that of the second.
  if (first?.status !== undefined && steps.length === (isChange ? 2 : 1)) return reported(first.status, isChange);
  if (result.isCut) return unknown('TARGET_TIMED_OUT', 'The server took too long', isChange);
  const status = first?.status ?? /NT_STATUS_(\w{1,60})/.exec(stdout + stderr)?.[1];
  if (status !== undefined) return reported(status, isChange, false);
  if (steps.length !== 1 || last?.name === undefined)
    return unknown('TARGET_RESPONSE_INVALID', 'The response of the server cannot be interpreted', isChange);
  if (last.name.toLowerCase() !== username.toLowerCase())
    return unknown('CREDENTIALS_REJECTED', 'The server logged in another user, possibly a guest', isChange);
  return {
    ...{ failure: null, status: null, isLoggedIn: true },
    authority: MARKER.exec(stdout)?.groups?.authority,
    sid: SID.exec(stdout)?.groups?.sid,
    owner: OWNER.exec(stdout)?.groups?.owner,
  };
}

interface Step {
  readonly status?: string | undefined;
  readonly name?: string | undefined;
}

/** The outputs of the commands, in order. */
const stepsIn = (stdout: string): Step[] =>
  stdout.split('\n').flatMap((line): Step[] => {
    const status = RESULT.exec(line)?.groups?.status;
    if (status !== undefined) return [{ status }];
    const name = MARKER.exec(line)?.groups?.name;
    return name === undefined ? [] : [{ name }];
  });

function notConnectedFor(status: string, isLoggedIn: boolean): RpcOutcome {
  const meaning = meaningOf(status);
  return { failure: failureOf(meaning, status, 'unchanged'), status, isLoggedIn };
}

/** @param isClear whether the status belongs to the change, not to a later command */
function reported(status: string, isChange: boolean, isClear = true): RpcOutcome {
  const meaning = meaningOf(status);
  const isUnchanged = !isChange || (isClear && meaning.isRefusal);
  return { failure: failureOf(meaning, status, isUnchanged ? 'unchanged' : 'unknown'), status, isLoggedIn: true };
}

const unknown = (code: TargetFailure['code'], message: string, isChange: boolean): RpcOutcome => ({
  failure: new TargetFailure(
    code,
    isChange ? 'unknown' : 'unchanged',
    `${message}.`,
    null,
    code !== 'CREDENTIALS_REJECTED',
  ),
  status: null,
  isLoggedIn: true,
});

const failureOf = (
  { code, message, isTemporary }: StatusMeaning,
  status: string,
  certainty: TargetFailure['certainty'],
): TargetFailure => new TargetFailure(code, certainty, `${message} (NT_STATUS_${status}).`, null, isTemporary);

/** Meaning of a status of an SMB server. */
interface StatusMeaning {
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
const meaningOf = (status: string): StatusMeaning => {
  const known = Object.hasOwn(MEANINGS, status) ? MEANINGS[status] : undefined;
  return known ?? interruption('TARGET_REJECTED', 'The server rejected the request');
};
