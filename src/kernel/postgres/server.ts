import { type ChildProcess, spawn } from 'node:child_process';
import { copyFile, open, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { createDatabase, PING } from '../database/session.sql.js';
import { type Account, childOptions, clusterArgument } from './account.js';
import type { Binaries } from './binaries.js';
import { DATABASE } from './cluster.js';
import { serversOf, signalProcesses, waitUntilGone } from './processes.js';

/** What one cluster is run with. */
export interface ServerSetup {
  readonly dataDir: string;
  readonly cluster: string;
  /** Directory through which clients reach the socket. */
  readonly host: string;
  readonly password: string;
  readonly binaries: Binaries;
  readonly account: Account;
}

const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '',
  unix_socket_directories: '.',
  unix_socket_permissions: '0700',
  // Room for some nodes, each with up to 20, and for the tools beside them. One too many is refused, and its request with it.
  max_connections: '200',
  shared_buffers: '64MB',
  min_wal_size: '32MB',
  max_wal_size: '256MB',
  // Deadlocked transactions are run again, so that to be told early is to be answered early.
  deadlock_timeout: '100ms',
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  // Statements and their parameters hold what callers sent; none of it may reach the log.
  log_error_verbosity: 'terse',
  log_parameter_max_length: '0',
  log_parameter_max_length_on_error: '0',
  log_min_error_statement: 'panic',
  log_min_duration_statement: '-1',
  log_statement: 'none',
  log_min_messages: 'fatal',
  log_timezone: 'UTC',
  timezone: 'UTC',
};

/** Fast, immediate, and by force. Together less than a drain may take. */
const STOP_STEPS = [
  { signal: 'SIGINT', waitMs: 12_000 },
  { signal: 'SIGQUIT', waitMs: 4_000 },
  { signal: 'SIGKILL', waitMs: 2_000 },
] as const;
const REST_WAIT_MS = 2_000;

export const serverLog = (dataDir: string): string => join(dataDir, 'postgres.log');

/** The address of a database of this server, in the form of libpq: the host is the percent-encoded socket directory. */
export const serverUrl = ({ host, password }: Pick<ServerSetup, 'host' | 'password'>, database: string): string =>
  `postgres://${DATABASE}:${password}@${encodeURIComponent(host)}/${database}`;

/** One run of the server program. */
export class Server {
  /** Resolves when the program has ended, for whatever reason. */
  readonly ended: Promise<{ code: number | null; signal: string | null }>;
  #hasEnded = false;

  private constructor(
    private readonly child: ChildProcess,
    private readonly cluster: string,
  ) {
    this.ended = new Promise((resolve) => {
      const settle = (code: number | null, signal: string | null) => {
        this.#hasEnded = true;
        resolve({ code, signal });
      };
      child.once('error', () => settle(null, null));
      child.once('exit', settle);
    });
  }

  /** Starts the program, in a process group of its own: Ctrl-C at a terminal is for the service, which stops it last. */
  static async start({ dataDir, cluster, binaries, account }: ServerSetup): Promise<Server> {
    await boundLogFile(serverLog(dataDir));
    const log = await openLogFile(serverLog(dataDir));
    try {
      const settings = Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
      return new Server(
        spawn(binaries.postgres, ['-D', clusterArgument(cluster, account), ...settings], {
          ...childOptions(account),
          cwd: cluster,
          detached: true,
          stdio: ['ignore', log.fd, log.fd],
        }),
        cluster,
      );
    } finally {
      await log.close();
    }
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** True once the server answers a query; false when it ended, or did not answer in time. Recovery takes its time. */
  async isReady(setup: ServerSetup, waitMs: number): Promise<boolean> {
    const deadline = performance.now() + waitMs;
    while (!this.#hasEnded && performance.now() < deadline) {
      if (await answersQuery(setup)) return true;
      await delay(15);
    }
    return false;
  }

  /** Asks it to stop, and does not wait: for the last moment of this process. */
  abandon(): void {
    if (!this.#hasEnded) this.#signal(STOP_STEPS[0].signal);
  }

  /**
   * Stops it: fast, which aborts transactions and writes a checkpoint; then less and less gently. Returns when none of its
   * processes is left: each backend has a process group of its own, and a suspended one outlives a killed server.
   */
  async stop(): Promise<void> {
    for (const { signal, waitMs } of STOP_STEPS) {
      if (this.#hasEnded) break;
      this.#signal(signal);
      const waiting = new AbortController();
      await Promise.race([this.ended, delay(waitMs, undefined, { signal: waiting.signal }).catch(() => undefined)]);
      waiting.abort();
    }
    signalProcesses(serversOf(this.cluster), 'SIGKILL');
    await waitUntilGone(this.cluster, REST_WAIT_MS);
  }

  #signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
    // A suspended server, or one that waits for a suspended backend, takes notice of nothing until it is continued.
    signalProcesses(serversOf(this.cluster), 'SIGCONT');
  }
}

/** Asks for `select 1` in our database, and makes the database when the server has none yet. */
async function answersQuery(setup: ServerSetup): Promise<boolean> {
  try {
    await query(serverUrl(setup, DATABASE), PING);
    return true;
  } catch (error) {
    const INVALID_CATALOG_NAME = '3D000';
    if ((error as { code?: string }).code !== INVALID_CATALOG_NAME) return false;
    return query(serverUrl(setup, 'postgres'), createDatabase(DATABASE)).then(
      () => true,
      () => false,
    );
  }
}

/** True when a server answers a query at this address. */
export const isServerReady = (url: string): Promise<boolean> =>
  query(url, PING).then(
    () => true,
    () => false,
  );

async function query(connectionString: string, text: string): Promise<void> {
  const client = new pg.Client({
    connectionString,
    connectionTimeoutMillis: 5_000,
    application_name: 'strongroom-supervisor',
  });
  // A broken connection also emits an event, which ends the process if it has no listener.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query(text);
  } finally {
    await client.end().catch(() => undefined);
  }
}

const MAX_BYTES = 8 * 1024 * 1024;

/** Opens the log of the server for appending. The caller closes it once the server has it. */
const openLogFile = (path: string) => open(path, 'a', 0o600);

/**
 * Keeps the log at 8 MiB and one older part of the same size.
 *
 * Emptied in place and not renamed: the server appends to the open file and would go on writing to the renamed one.
 */
export async function boundLogFile(path: string): Promise<void> {
  const size = (await stat(path).catch(() => null))?.size ?? 0;
  if (size <= MAX_BYTES) return;
  await copyFile(path, `${path}.1`);
  await truncate(path);
}
