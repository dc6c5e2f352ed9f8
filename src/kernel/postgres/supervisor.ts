import { access, rm, stat } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ConfigurationError } from '../configuration-error.js';
import type { Log } from './account.js';
import { isDiskFull, keepSocketHost, socketFile } from './data-directory.js';
import { serversOf, signalProcesses, waitUntilGone } from './processes.js';
import { boundLogFile, Server, type ServerSetup, serverLog } from './server.js';

const FIRST_START_MS = 15_000;
const READY_MS = 120_000;
/** A server that ends again and again is brought back within ten seconds all the same. */
const MIN_BACKOFF_MS = 250;
const MAX_BACKOFF_MS = 4_000;
/** One that has run for so long has not ended because of its last start. */
const SETTLED_MS = 30_000;
const MAINTENANCE_MS = 2_000;

const DISK_FULL =
  'DATA_DIR is on a full disk, so the embedded database cannot start; delete the disk reserve, its file ballast, free more space, and start again';

/** Keeps one server running on a cluster until it is stopped. */
export class Supervisor {
  #server: Server | null = null;
  /** The server, from its first answer on. */
  #serving: Server | null = null;
  #watching: Promise<unknown> = Promise.resolve();
  readonly #stopping = new AbortController();
  #restarts = 0;

  constructor(
    private readonly setup: ServerSetup,
    private readonly log: Log,
  ) {}

  get isStopping(): boolean {
    return this.#stopping.signal.aborted;
  }

  /** How often it was brought back. */
  get restarts(): number {
    return this.#restarts;
  }

  /**
   * Starts the server and returns when it answers. From then on it is started again whenever it ends.
   *
   * @throws ConfigurationError when it does not come up
   */
  async start(): Promise<void> {
    const deadline = performance.now() + FIRST_START_MS;
    while (!(await this.#attempt())) {
      if (await isDiskFull(this.setup.dataDir)) throw new ConfigurationError([DISK_FULL]);
      if (performance.now() > deadline) {
        throw new ConfigurationError(['The embedded database does not start; see postgres.log in DATA_DIR']);
      }
      await delay(500);
    }
    process.on('exit', this.#abandon);
    this.#watching = Promise.all([this.#watch(), this.#keepUp()]);
  }

  /** Stops the server and waits until it has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#server?.stop();
    await this.#watching;
    process.off('exit', this.#abandon);
  }

  /** The service leaves without having stopped it: told to stop by itself, it does not stay behind. */
  readonly #abandon = (): void => this.#server?.abandon();

  /** Whether a server responds. Otherwise all its processes have been stopped. */
  async #attempt(): Promise<boolean> {
    const { cluster, host } = this.setup;
    await clearTheWay(cluster, host, this.log);
    if (this.isStopping) return false;
    const server = await Server.start(this.setup);
    this.#server = server;
    if (this.isStopping) await server.stop();
    if (await server.isReady(this.setup, READY_MS)) {
      this.#serving = server;
      return true;
    }
    await server.stop();
    return false;
  }

  async #watch(): Promise<void> {
    let backoffMs = MIN_BACKOFF_MS;
    while (!this.isStopping) {
      const since = performance.now();
      const end = await this.#server?.ended;
      if (this.isStopping) return;
      this.log('postgres exited', { code: end?.code ?? -1, signal: end?.signal ?? 'none' }, 'warn');
      if (performance.now() - since > SETTLED_MS) backoffMs = MIN_BACKOFF_MS;
      backoffMs = await this.#bringBack(backoffMs);
    }
  }

  /** Tries until the server answers again; returns how long to wait should it end soon. */
  async #bringBack(firstBackoffMs: number): Promise<number> {
    let backoffMs = firstBackoffMs;
    while (!this.isStopping) {
      await delay(backoffMs, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
      backoffMs = Math.min(backoffMs * 2, MAX_BACKOFF_MS);
      // A full disk or a lost mount heals without us: no failure ends the attempts.
      const isBack = await this.#attempt().catch(() => false);
      if (!this.isStopping && !isBack) this.log('postgres restart failed', { nextWaitMs: backoffMs }, 'warn');
      if (!isBack) continue;
      if (!this.isStopping) this.log('postgres restarted', { nextWaitMs: backoffMs });
      this.#restarts += 1;
      break;
    }
    return backoffMs;
  }

  async #keepUp(): Promise<void> {
    const { signal } = this.#stopping;
    while (!this.isStopping) {
      await delay(MAINTENANCE_MS, undefined, { signal, ref: false }).catch(() => undefined);
      try {
        await boundLogFile(serverLog(this.setup.dataDir));
        await keepSocketHost(this.setup.host, this.setup.cluster);
        await this.#keepSocket();
      } catch {
        this.log('postgres maintenance failed', {}, 'warn');
      }
    }
  }

  /** A server makes its socket when it starts, and at no other time: one that has lost it is stopped, and so brought back. */
  async #keepSocket(): Promise<void> {
    const serving = this.#serving;
    if (this.isStopping || serving === null || serving.hasEnded) return;
    const isThere = await access(socketFile(this.setup.cluster)).then(
      () => true,
      () => false,
    );
    // It may have ended meanwhile, which removes the socket as well.
    if (isThere || serving.hasEnded) return;
    this.log('postgres socket lost', {}, 'warn');
    await serving.stop();
  }
}

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
async function clearTheWay(cluster: string, host: string, log: Log): Promise<void> {
  for (const { signal, waitMs } of STEPS) {
    const left = serversOf(cluster);
    if (left.length === 0) break;
    log('stopping orphaned postgres processes', { processes: left.length, signal });
    signalProcesses(left, signal);
    // A suspended process would take notice of no signal but SIGKILL.
    signalProcesses(left, 'SIGCONT');
    await waitUntilGone(cluster, waitMs);
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
