import { execFile } from 'node:child_process';
import { readdir, readFile, readlink, realpath, rm, stat } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { ConfigurationFault } from '../../configuration-fault.js';
import type { Log } from './account.js';
import { socketFile } from './socket-directory.js';

const run = promisify(execFile);

/** What is sent to processes that hold the cluster, and how long each has to work: fast, immediate, and by force. */
const STEPS = [
  { signal: 'SIGINT', waitMs: 8_000 },
  { signal: 'SIGQUIT', waitMs: 3_000 },
  { signal: 'SIGKILL', waitMs: 2_000 },
] as const;

/**
 * Ends what a dead service has left on its cluster, so that a new server can start, and never two.
 *
 * A server of ours without a service is stopped. A pid file that names nobody of ours is removed: Postgres refuses to
 * start for ever on an empty one, and on one whose number has gone to another process of the same account.
 *
 * @param cluster directory of the cluster
 * @param host directory through which its socket is reached
 * @throws ConfigurationFault when somebody answers on the socket who is not a process that we can see
 * Source: reliability P10, C44.
 */
export async function clearTheWay(cluster: string, host: string, log: Log): Promise<void> {
  for (const { signal, waitMs } of STEPS) {
    const left = await serversOf(cluster);
    if (left.length === 0) break;
    log('postgres.orphan.stopping', { processes: left.length, signal });
    for (const pid of left) send(pid, signal);
    await untilGone(cluster, waitMs);
  }
  if ((await serversOf(cluster)).length > 0) {
    throw new ConfigurationFault([
      'A database server of an earlier run holds DATA_DIR and cannot be stopped; stop it by hand',
    ]);
  }
  // Seen from another container, the process of a living server is invisible, but its socket answers.
  if (await answers(socketFile(host))) {
    throw new ConfigurationFault([
      'Another database server is running on DATA_DIR, perhaps in another container; stop that one',
    ]);
  }
  // The socket has a lock of the same kind. Either may name a process that is dead but not yet reaped.
  for (const name of ['postmaster.pid', '.s.PGSQL.5432.lock']) {
    const path = join(cluster, name);
    if ((await stat(path).catch(() => null)) === null) continue;
    await rm(path, { force: true });
    log('postgres.pidfile.removed', { name });
  }
}

async function untilGone(cluster: string, waitMs: number): Promise<void> {
  const deadline = performance.now() + waitMs;
  while (performance.now() < deadline && (await serversOf(cluster)).length > 0) await delay(20);
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Gone already, or of another account: the caller looks again and decides.
  }
}

/** The processes of Postgres that work in this cluster. */
async function serversOf(cluster: string): Promise<number[]> {
  if (process.platform !== 'linux') return serverOfPidFile(cluster);
  const home = await realpath(cluster).catch(() => cluster);
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(pids.map(async (pid) => ((await worksIn(pid, home)) ? Number(pid) : 0)));
  return found.filter((pid) => pid > 0 && pid !== process.pid);
}

// The working directory and not the command line: the first cannot be mistaken, and every process of a server has it.
async function worksIn(pid: string, home: string): Promise<boolean> {
  const place = await readlink(`/proc/${pid}/cwd`).catch(() => null);
  if (place !== home) return false;
  return (await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '')).trim() === 'postgres';
}

async function serverOfPidFile(cluster: string): Promise<number[]> {
  const pid = Number((await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n')[0]);
  if (!Number.isInteger(pid) || pid <= 0) return [];
  const { stdout } = await run('ps', ['-o', 'command=', '-p', String(pid)]).catch(() => ({ stdout: '' }));
  return /\bpostgres\b/.test(stdout) && stdout.includes(cluster) ? [pid] : [];
}

const answers = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = createConnection(path);
    const settle = (does: boolean) => {
      socket.destroy();
      resolve(does);
    };
    socket.once('connect', () => settle(true));
    socket.once('error', () => settle(false));
  });
