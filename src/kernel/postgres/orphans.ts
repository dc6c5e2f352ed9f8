import { rm, stat } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { ConfigurationError } from '../configuration-error.js';
import type { Log } from './account.js';
import { serversOf, signalAll, untilGone } from './processes.js';
import { socketFile } from './socket-directory.js';

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
 * @throws ConfigurationError when somebody answers on the socket who is not a process that we can see
 */
export async function clearTheWay(cluster: string, host: string, log: Log): Promise<void> {
  for (const { signal, waitMs } of STEPS) {
    const left = serversOf(cluster);
    if (left.length === 0) break;
    log('stopping orphaned postgres processes', { processes: left.length, signal });
    signalAll(left, signal);
    // A suspended process would take notice of no signal but SIGKILL.
    signalAll(left, 'SIGCONT');
    await untilGone(cluster, waitMs);
  }
  if (serversOf(cluster).length > 0) {
    throw new ConfigurationError([
      'A database server of an earlier run still uses DATA_DIR and cannot be stopped; stop it manually',
    ]);
  }
  // Seen from another container, the process of a living server is invisible, but its socket answers.
  if (await answers(socketFile(host))) {
    throw new ConfigurationError([
      'Another database server is running on DATA_DIR, perhaps in another container; stop it',
    ]);
  }
  // The socket has a lock of the same kind. Either may name a process that is dead but not yet reaped.
  for (const name of ['postmaster.pid', '.s.PGSQL.5432.lock']) {
    const path = join(cluster, name);
    if ((await stat(path).catch(() => null)) === null) continue;
    await rm(path, { force: true });
    log('stale postgres pid file removed', { name });
  }
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
