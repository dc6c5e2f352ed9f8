import { TargetFailure } from '../kind/target-failure.js';
import { meaningOf, type StatusMeaning } from './nt-status.js';
import type { RpcResult } from './rpc-tool.js';

/** The request of a run, to interpret its output. */
export interface RpcQuestion {
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
  if (connecting !== undefined) return notAskedFor(connecting, false);
  const steps = stepsIn(stdout);
  const [first, last] = [steps[0], steps.at(-1)];
  const notAsked = NOT_ASKED.exec(stderr)?.groups?.status;
  if (isChange && notAsked !== undefined && steps.every(({ name }) => name !== undefined))
    return notAskedFor(notAsked, true);
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

function notAskedFor(status: string, isLoggedIn: boolean): RpcOutcome {
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
