import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * The Postgres processes that work in this cluster, in whatever state, whoever started them.
 *
 * Synchronous, because the last moment of the service needs it too.
 */
export function serversOf(cluster: string): number[] {
  if (process.platform !== 'linux') return serverOfPidFile(cluster);
  const directory = orNull(() => realpathSync(cluster)) ?? cluster;
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && worksIn(name, directory))
    .map(Number)
    .filter((pid) => pid !== process.pid);
}

/** Sends a signal to each process. One that has ended, or is of another account, is passed over. */
export function signalProcesses(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) orNull(() => process.kill(pid, signal));
}

/** True once no Postgres process works in the cluster; false when one still does after `waitMs`. */
export async function waitUntilGone(cluster: string, waitMs: number): Promise<boolean> {
  const deadline = performance.now() + waitMs;
  while (serversOf(cluster).length > 0) {
    if (performance.now() > deadline) return false;
    await delay(20);
  }
  return true;
}

// The working directory and not the command line: the first cannot be mistaken, and every process of a server has it.
function worksIn(pid: string, directory: string): boolean {
  if (orNull(() => readlinkSync(`/proc/${pid}/cwd`)) !== directory) return false;
  return orNull(() => readFileSync(`/proc/${pid}/comm`, 'utf8'))?.trim() === 'postgres';
}

function serverOfPidFile(cluster: string): number[] {
  const pid = Number((orNull(() => readFileSync(join(cluster, 'postmaster.pid'), 'utf8')) ?? '').split('\n')[0]);
  if (!Number.isInteger(pid) || pid <= 0) return [];
  const command = orNull(() => execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' })) ?? '';
  return /\bpostgres\b/.test(command) && command.includes(cluster) ? [pid] : [];
}

/** The process or file may be gone by now: then there is nothing to find. */
function orNull<T>(work: () => T): T | null {
  try {
    return work();
  } catch {
    return null;
  }
}
