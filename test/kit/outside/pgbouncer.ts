import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeWith } from '../describe-with.ts';
import { until } from '../until.ts';
import { freePort } from './samba.ts';

const PATH = `${process.env.PATH ?? ''}:/usr/sbin`;

/** `describe` for tests behind a real PgBouncer, which are passed over where it is missing; see `describeWith`. */
export const describeWithPgBouncer = (name: string, tests: () => void): void =>
  describeWith(['pgbouncer'], name, tests, PATH);

/** A real PgBouncer in session mode before a database that a host and a port reach. */
export class PgBouncer {
  /** The database through it. */
  readonly url: string;
  readonly #child: ChildProcess;
  readonly #folder: string;

  private constructor(url: string, child: ChildProcess, folder: string) {
    [this.url, this.#child, this.#folder] = [url, child, folder];
  }

  /** @param more lines of its configuration, such as `ignore_startup_parameters = options` */
  static async start(databaseUrl: string, more: readonly string[] = []): Promise<PgBouncer> {
    const { username, password, hostname, port, pathname } = new URL(databaseUrl);
    const folder = await mkdtemp(join(tmpdir(), 'pgbouncer-'));
    // Read by another account than root, as which it refuses to run.
    await chmod(folder, 0o755);
    const own = await freePort();
    const database = pathname.slice(1);
    await writeFile(join(folder, 'users.txt'), `"${username}" "${password}"\n`);
    const lines = [
      ...['[databases]', `${database} = host=${hostname} port=${port} dbname=${database}`],
      ...['[pgbouncer]', 'listen_addr = 127.0.0.1', `listen_port = ${own}`, 'unix_socket_dir ='],
      ...['auth_type = scram-sha-256', `auth_file = ${join(folder, 'users.txt')}`],
      ...['pool_mode = session', 'max_client_conn = 200', 'default_pool_size = 60'],
      ...['server_connect_timeout = 3', 'server_login_retry = 1', 'query_wait_timeout = 10', ...more, ''],
    ];
    await writeFile(join(folder, 'pgbouncer.ini'), lines.join('\n'));
    const account = process.getuid?.() === 0 ? ['--user=nobody'] : [];
    const child = spawn('pgbouncer', [...account, join(folder, 'pgbouncer.ini')], { env: { PATH }, stdio: 'ignore' });
    const url = new URL(databaseUrl);
    [url.hostname, url.port] = ['127.0.0.1', String(own)];
    await until('PgBouncer', 15_000, () => isListening(own));
    return new PgBouncer(url.href, child, folder);
  }

  async stop(): Promise<void> {
    const ended = this.#child.exitCode === null ? once(this.#child, 'exit') : null;
    this.#child.kill('SIGKILL');
    await ended;
    await rm(this.#folder, { recursive: true, force: true });
  }
}

const isListening = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });
