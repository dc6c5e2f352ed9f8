import { readFileSync } from 'node:fs';
import type { Debugger } from 'node:inspector';
import { Session } from 'node:inspector/promises';
import { basename } from 'node:path';

// What another thread finds out about the main thread, also while that runs one turn without end.

/** Linux counts in hundredths of a second, whatever its clock does. */
const TICK_MS = 10;
const STAT = `/proc/self/task/${process.pid}/stat`;
/** Fields of `STAT` behind the name of the thread, which may have blanks: see proc(5). */
const [USER, SYSTEM] = [11, 12];
const MAX_FRAMES = 15;
const OURS = /^[\w$.#<> ]{1,80}$/;

/** Processor time that the main thread has used, in milliseconds. Where that is not known it is that of the whole process: no less. */
export function processorMs(): number {
  try {
    const stat = readFileSync(STAT, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[USER]) + Number(fields[SYSTEM])) * TICK_MS;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  }
}

/** What the main thread does, in names of ours. */
interface Sample {
  /** As `Running` has it. */
  readonly running: Readonly<Record<string, string>>;
  /** Function, file and line, the innermost first. */
  readonly at: string;
}

/** The main thread, stopped in the middle of what it does. */
export interface StoppedThread {
  readonly sample: Sample;
  /** Ends the process from within: what runs as process 1 of a container ignores signals from there, SIGKILL too. */
  exit(): void;
}

/** Stops the main thread for good, and looks. Never resolves while code runs there that is not JavaScript. */
export async function stopMainThread(): Promise<StoppedThread> {
  const session = new Session();
  session.connectToMainThread();
  const files = new Map<string, string>();
  session.on('Debugger.scriptParsed', ({ params: { scriptId, url } }) => files.set(scriptId, url));
  const paused = new Promise<Debugger.CallFrame[]>((resolve) => {
    session.once('Debugger.paused', ({ params }) => resolve(params.callFrames));
  });
  await session.post('Debugger.enable');
  await session.post('Debugger.pause');
  const frames = await paused;
  const evaluate = (expression: string) => {
    const callFrameId = frames[0]?.callFrameId as string;
    return session.post('Debugger.evaluateOnCallFrame', { callFrameId, expression, returnByValue: true });
  };
  const found = await evaluate(`globalThis[Symbol.for('strongroom.running')]?.()`);
  const running = (found.result.value ?? {}) as Sample['running'];
  const at = frames
    .slice(0, MAX_FRAMES)
    .map((frame) => describeFrame(frame, files.get(frame.location.scriptId) ?? ''))
    .join(' < ');
  return { sample: { running, at }, exit: () => void evaluate('process.reallyExit(137)') };
}

/** Without the folder. Code that was made at run time has no file, and may have names of callers. */
function describeFrame({ functionName, location }: Debugger.CallFrame, url: string): string {
  if (url === '') return '(generated)';
  const name = OURS.test(functionName) ? `${functionName} ` : '';
  const file = url.startsWith('node:') ? url : basename(url);
  return `${name}(${file}:${location.lineNumber + 1}:${(location.columnNumber ?? 0) + 1})`;
}

/**
 * Finds a turn of an event loop that lasts too long, by the processor time that its thread uses between two heartbeats and not by a
 * clock. A thread uses none while others have the processors, while the machine sleeps, while the process is stopped (SIGSTOP, a paused
 * container), and at a breakpoint.
 */
export class LongTurn {
  #beat: number | null = null;
  #since = 0;

  /** @param limitMs processor time without a heartbeat that is too long */
  constructor(private readonly limitMs: number) {}

  /**
   * @param beat changes with each heartbeat
   * @param usedMs processor time that the thread has used since it began
   */
  isTooLong(beat: number, usedMs: number): boolean {
    if (beat !== this.#beat) {
      this.#beat = beat;
      this.#since = usedMs;
    }
    return usedMs - this.#since >= this.limitMs;
  }
}
