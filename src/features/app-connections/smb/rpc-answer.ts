import { TargetFailure } from '../kind/target-failure.js';
import { meaningOf, type StatusMeaning } from './nt-status.js';
import type { RpcResult } from './rpc-tool.js';

/** What a run of the tool was about, for judging it. */
export interface RpcQuestion {
  /** Who is to be logged in, without a domain. */
  readonly username: string;
  /** Whether a command stood before the one that tells who is logged in. */
  readonly isChange: boolean;
}

/** What came of a run of the tool. */
export interface RpcOutcome {
  /** Null when everything that was asked for is done. */
  readonly failure: TargetFailure | null;
  /** What the failure was told by, without `NT_STATUS_`. */
  readonly status: string | null;
  /** Whether there was a session, in which commands were sent. */
  readonly isLoggedIn: boolean;
}

const DONE: RpcOutcome = { failure: null, status: null, isLoggedIn: true };

/** What the tool prints of the one command that is in every run, the last. */
const MARKER = /^Account Name: (?<name>.*), Authority Name: .*$/;
const RESULT = /^result was NT_STATUS_(?<status>\w{1,60})\b/;
const NOT_CONNECTED = /Cannot connect to server\. +Error was NT_STATUS_(?<status>\w{1,60})/;
/** Of the service that changes passwords: it was not asked. */
const NOT_ASKED = /Could not initialise samr\. +Error was NT_STATUS_(?<status>\w{1,60})/;

/**
 * What came of a run. The exit code says nothing: a refused command ends with 0. Done is only what no status speaks against, and what
 * the last command confirms with the name of the account.
 *
 * Source: rotation-targets A5, A7.
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
  // Of two commands, both have to be heard of: else a refusal may be that of the second.
  if (first?.status !== undefined && steps.length === (isChange ? 2 : 1)) return told(first.status, isChange);
  if (result.isCut) return unknown('TARGET_TIMED_OUT', 'The server took too long', isChange);
  const status = first?.status ?? /NT_STATUS_(\w{1,60})/.exec(stdout + stderr)?.[1];
  if (status !== undefined) return told(status, isChange, false);
  if (steps.length !== 1 || last?.name === undefined)
    return unknown('TARGET_RESPONSE_INVALID', 'The answer of the server is not understood', isChange);
  if (last.name.toLowerCase() !== username.toLowerCase())
    return unknown('CREDENTIALS_REJECTED', 'The server logged somebody else in, perhaps as a guest', isChange);
  return DONE;
}

interface Step {
  readonly status?: string | undefined;
  readonly name?: string | undefined;
}

/** What the commands left on the standard output, in their order. */
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

/** @param isClear whether it is the answer to the change, and not to what came after it */
function told(status: string, isChange: boolean, isClear = true): RpcOutcome {
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
