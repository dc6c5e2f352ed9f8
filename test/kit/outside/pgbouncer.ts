import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeWith } from '../describe-with.ts';
import { freePort } from '../free-port.ts';
import { ofThisRun } from '../processes.ts';
import { until } from '../until.ts';

const PATH = `${process.env.PATH ?? ''}:/usr/sbin`;

/** `describe` for tests behind a real PgBouncer, which are passed over where it is missing; see `describeWith`. */
export const describeWithPgBouncer = (name: string, tests: () => void): void =>
  describeWith(['pgbouncer'], name, tests, PATH);

/** Whether the one that is installed keeps prepared statements in transaction mode. */
export function keepsStatements(): boolean {
  const version = /PgBouncer (\d+)\.(\d+)/.exec(
    execFileSync('pgbouncer', ['--version'], { env: { PATH }, encoding: 'utf8' }),
  );
  return Number(version?.[1]) > 1 || Number(version?.[2]) >= 21;
}

/** A real PgBouncer before a database that a host and a port reach; in session mode, unless its configuration says otherwise. */
export class PgBouncer {
  /** The database through it. */
  readonly url: string;
  readonly #folder: string;
  #child: ChildProcess | null = null;

  private constructor(url: string, folder: string) {
    [this.url, this.#folder] = [url, folder];
  }

  /** @param more lines of its configuration, such as `ignore_startup_parameters = options`. They come last, and count */
  static async start(databaseUrl: string, more: readonly string[] = []): Promise<PgBouncer> {
    const { username, password, hostname, port } = new URL(databaseUrl);
    const folder = await mkdtemp(join(tmpdir(), 'pgbouncer-'));
    // Read by another account than root, as which it refuses to run.
    await chmod(folder, 0o755);
    const own = await freePort();
    await writeFile(join(folder, 'users.txt'), `"${username}" "${password}"\n`);
    const lines = [
      ...['[databases]', `* = host=${hostname} port=${port}`],
      ...['[pgbouncer]', 'listen_addr = 127.0.0.1', `listen_port = ${own}`, 'unix_socket_dir ='],
      ...['auth_type = scram-sha-256', `auth_file = ${join(folder, 'users.txt')}`],
      ...['pool_mode = session', 'max_client_conn = 200', 'default_pool_size = 60'],
      ...['server_connect_timeout = 3', 'server_login_retry = 1', 'query_wait_timeout = 10', ...more, ''],
    ];
    await writeFile(join(folder, 'pgbouncer.ini'), lines.join('\n'));
    const url = new URL(databaseUrl);
    [url.hostname, url.port] = ['127.0.0.1', String(own)];
    const pooler = new PgBouncer(url.href, folder);
    await pooler.comeBack();
    return pooler;
  }

  /** Ends it at once, with all connections through it. */
  async die(): Promise<void> {
    const child = this.#child;
    if (child === null) return;
    const ended = child.exitCode === null ? once(child, 'exit') : null;
    child.kill('SIGKILL');
    await ended;
    this.#child = null;
  }

  /** Starts it as it was. */
  async comeBack(): Promise<void> {
    const account = process.getuid?.() === 0 ? ['--user=nobody'] : [];
    const configuration = join(this.#folder, 'pgbouncer.ini');
    this.#child = spawn('pgbouncer', [...account, configuration], { env: { PATH, ...ofThisRun() }, stdio: 'ignore' });
    await until('PgBouncer', 20_000, () => isListening(Number(new URL(this.url).port)));
  }

  async stop(): Promise<void> {
    await this.die();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

const isListening = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });
