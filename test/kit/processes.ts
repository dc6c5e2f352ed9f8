import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';

/** What marks a process as one of this test run, for those that get an environment of their own: it ends with the run. */
export const ofThisRun = (): NodeJS.ProcessEnv => ({ TEST_RUN_ID: process.env.TEST_RUN_ID });

/** A process, with what it was started with, as far as that can be seen. */
interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly environment: string;
}

/** The processes that run now. */
export function runningProcesses(): Process[] {
  if (existsSync('/proc/self/environ')) {
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    return pids.flatMap((pid) => processOf(pid) ?? []);
  }
  // macOS: the environment follows the command.
  const args = ['axeww', '-o', 'pid=,ppid=,command='];
  const lines = execFileSync('ps', args, { encoding: 'utf8', maxBuffer: 2 ** 28 }).split('\n');
  return lines.flatMap((line) => {
    const [, pid, parent, environment = ''] = /^ *(\d+) +(\d+) (.*)$/.exec(line) ?? [];
    return pid === undefined ? [] : { pid: Number(pid), parent: Number(parent), environment };
  });
}

/** @returns null when it has ended, or is somebody else's */
function processOf(pid: string): Process | null {
  try {
    const [state, parent] = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/.*\) /s, '').split(' ');
    const environment = readFileSync(`/proc/${pid}/environ`, 'utf8');
    return state === 'Z' ? null : { pid: Number(pid), parent: Number(parent), environment };
  } catch {
    return null;
  }
}

/** Ids of the processes of the embedded Postgres of a data directory, its backends too. They work in their cluster. */
export async function embeddedPostgres(dataDir: string): Promise<number[]> {
  const cluster = join(dataDir, 'postgres');
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const places = await Promise.all(pids.map((pid) => readlink(`/proc/${pid}/cwd`).catch(() => '')));
  return pids.filter((_, index) => places[index] === cluster);
}

/** Signals the embedded Postgres of a data directory, which has a process group of its own. @returns its processes */
export async function signalEmbeddedPostgres(dataDir: string, name: NodeJS.Signals): Promise<number[]> {
  const pids = await embeddedPostgres(dataDir);
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch {
      // It has ended, as each does with the one before it.
    }
  }
  return pids;
}

/** Suspends it. What its server has begun before it stood still is found by another look. */
export async function suspendEmbeddedPostgres(dataDir: string): Promise<void> {
  const suspended = new Set<number>();
  for (let before = -1; before < suspended.size; ) {
    before = suspended.size;
    for (const pid of await signalEmbeddedPostgres(dataDir, 'SIGSTOP')) suspended.add(pid);
  }
}

/** How an operator reaches the embedded Postgres of a running service: through its socket, with the password in `dataDir`. */
export async function embeddedUrl(dataDir: string): Promise<string> {
  const password = (await readFile(join(dataDir, 'postgres-password'), 'utf8')).trim();
  return `postgres://strongroom:${password}@${encodeURIComponent(join(dataDir, 'postgres'))}/strongroom`;
}
