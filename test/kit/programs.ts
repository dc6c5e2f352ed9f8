import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { ofThisRun } from './processes.ts';
import { COMPILE_CACHE } from './service.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** What a program printed, and how it ended. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Both, in the order of their arrival. */
  readonly output: string;
}

/** A built program of `src/bin`, running. */
export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
}

/** Runs a built program of `src/bin` with these settings. */
export const runProgram = (name: string, env: Readonly<Record<string, string>>, ...args: string[]): Promise<Ended> =>
  startProgram(name, env, ...args).ended;

/** Starts a built program of `src/bin` with these settings, and does not wait. */
export function startProgram(name: string, env: Readonly<Record<string, string>>, ...args: string[]): Running {
  const child = spawn(join(ROOT, 'node_modules/.bin/node'), [join(ROOT, `.build/src/bin/${name}.js`), ...args], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...ofThisRun(), NODE_COMPILE_CACHE: COMPILE_CACHE, ...env },
  });
  const printed = { stdout: '', stderr: '', output: '' };
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream].on('data', (chunk) => {
      printed[stream] += String(chunk);
      printed.output += String(chunk);
    });
  return { child, ended: once(child, 'close').then(([code]) => ({ code: code as number | null, ...printed })) };
}
