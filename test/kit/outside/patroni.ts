import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { isThere } from '../describe-with.ts';
import { freePort } from '../free-port.ts';
import { ofThisRun } from '../processes.ts';
import { until } from '../until.ts';

const PATH = `${process.env.PATH ?? ''}:/usr/sbin:/usr/local/sbin`;
const PROGRAMS = ['patroni', 'etcd', 'haproxy', 'pgbouncer', 'setpriv'];
const DATABASE = 'strongroom';
/** Every program of the cluster runs as this account: Postgres refuses to run as root. */
const ACCOUNT = 'postgres';

interface Member {
  readonly name: string;
  readonly port: number;
  readonly restPort: number;
  readonly dataDir: string;
  patroni: ChildProcess | null;
}

/** Whether Debian's Patroni, etcd, HAProxy and PgBouncer are there, and this process may start them as another account. */
export const hasPatroni = (): boolean =>
  process.getuid?.() === 0 && PROGRAMS.every((program) => isThere(program, PATH));

/**
 * A highly available Postgres: three members that Patroni leads, with synchronous replication, and HAProxy, which asks Patroni who the
 * leader is. All on this machine, in a temporary folder.
 */
export class PatroniCluster {
  readonly #folder: string;
  readonly #password = randomBytes(12).toString('hex');
  readonly #members: readonly Member[];
  readonly #others: ChildProcess[] = [];
  readonly #etcdPort: number;
  readonly #proxyPort: number;

  private constructor(folder: string, ports: readonly number[]) {
    this.#folder = folder;
    const [etcd, proxy, ...rest] = ports as [number, number, ...number[]];
    [this.#etcdPort, this.#proxyPort] = [etcd, proxy];
    this.#members = ['one', 'two', 'three'].map((name, index) => ({
      name,
      port: rest[index * 2] as number,
      restPort: rest[index * 2 + 1] as number,
      dataDir: join(folder, name),
      patroni: null,
    }));
  }

  /** Starts everything, and makes an empty database. */
  static async start(): Promise<PatroniCluster> {
    const folder = await mkdtemp(join(tmpdir(), 'ha-'));
    await chmod(folder, 0o755);
    const ports: number[] = [];
    while (ports.length < 8) {
      const port = await freePort();
      if (!ports.includes(port)) ports.push(port);
    }
    const cluster = new PatroniCluster(folder, ports);
    try {
      await cluster.#startAll();
    } catch (error) {
      await cluster.stop();
      throw error;
    }
    return cluster;
  }

  /** The database through HAProxy. */
  get url(): string {
    return `postgres://strongroom:${this.#password}@127.0.0.1:${this.#proxyPort}/${DATABASE}`;
  }

  /** SIGKILL of the leader: its Patroni and its Postgres. @returns its name */
  async killLeader(): Promise<string> {
    const leader = await until('a leader', 30_000, () => this.#leader());
    const [pid] = (await readFile(join(leader.dataDir, 'data', 'postmaster.pid'), 'utf8')).split('\n');
    leader.patroni?.kill('SIGKILL');
    process.kill(Number(pid), 'SIGKILL');
    leader.patroni = null;
    return leader.name;
  }

  /** Waits until another member than that is the leader. */
  untilPromoted(former: string): Promise<unknown> {
    return until('a promotion', 90_000, async () => {
      const leader = await this.#leader();
      return leader !== undefined && leader.name !== former;
    });
  }

  /** Starts a member that was killed, and waits until all follow and one of them is synchronous. */
  async bringBack(name: string): Promise<void> {
    const member = this.#members.find((each) => each.name === name) as Member;
    this.#startMember(member);
    await this.#untilWhole();
  }

  async stop(): Promise<void> {
    const processes = [...this.#members.flatMap(({ patroni }) => patroni ?? []), ...this.#others.toReversed()];
    for (const child of processes) {
      child.kill('SIGTERM');
      await Promise.race([
        child.exitCode === null ? once(child, 'exit') : null,
        new Promise((go) => setTimeout(go, 15_000)),
      ]);
      child.kill('SIGKILL');
    }
    await promisify(execFile)('pkill', ['-KILL', '-f', this.#folder]).catch(() => undefined);
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 500 });
  }

  async #startAll(): Promise<void> {
    const etcd = `http://127.0.0.1:${this.#etcdPort}`;
    await this.#makeFolder('etcd');
    this.#run('etcd', [
      ...['--data-dir', join(this.#folder, 'etcd'), '--listen-client-urls', etcd, '--advertise-client-urls', etcd],
      ...['--listen-peer-urls', `http://127.0.0.1:${await freePort()}`],
    ]);
    await until('etcd', 30_000, async () => (await fetch(`${etcd}/health`).catch(() => null))?.ok === true);
    for (const member of this.#members) {
      await this.#makeFolder(member.name);
      await this.#write(`${member.name}.yml`, JSON.stringify(await this.#memberSettings(member), null, 1));
      this.#startMember(member);
    }
    await this.#write('haproxy.cfg', this.#proxySettings());
    this.#run('haproxy', ['-f', join(this.#folder, 'haproxy.cfg')]);
    await this.#untilWhole();
    await this.#makeDatabase();
  }

  #startMember(member: Member): void {
    member.patroni = this.#spawn('patroni', [join(this.#folder, `${member.name}.yml`)]);
  }

  #run(program: string, args: readonly string[]): void {
    this.#others.push(this.#spawn(program, args));
  }

  #spawn(program: string, args: readonly string[]): ChildProcess {
    const child = spawn(
      'setpriv',
      [`--reuid=${ACCOUNT}`, `--regid=${ACCOUNT}`, '--init-groups', '--', program, ...args],
      {
        cwd: this.#folder,
        env: { PATH, LANG: 'C.UTF-8', HOME: this.#folder, ...ofThisRun() },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk) => appendFileSync(join(this.#folder, 'log'), chunk));
    return child;
  }

  async #makeFolder(name: string): Promise<void> {
    const path = join(this.#folder, name);
    await mkdir(path, { mode: 0o700 });
    await this.#giveAway(path);
  }

  async #write(name: string, text: string): Promise<void> {
    await writeFile(join(this.#folder, name), text, { mode: 0o600 });
    await this.#giveAway(join(this.#folder, name));
  }

  async #giveAway(path: string): Promise<void> {
    const [, , uid, gid] = (
      (await readFile('/etc/passwd', 'utf8')).match(new RegExp(`^${ACCOUNT}:.*$`, 'm'))?.[0] ?? ''
    ).split(':');
    await chown(path, Number(uid), Number(gid));
  }

  async #leader(): Promise<Member | undefined> {
    const answers = await Promise.all(this.#members.map(({ restPort }) => get(restPort, '/primary')));
    return this.#members.find((_, index) => answers[index]?.status === 200);
  }

  #untilWhole(): Promise<unknown> {
    return until('three members, one of them synchronous', 180_000, async () => {
      const [first] = this.#members;
      const reply = await get((first as Member).restPort, '/cluster');
      if (reply === null) return false;
      const { members = [] } = (await reply.json()) as { members?: { role: string; state: string; lag?: number }[] };
      const isRunning = members.every(({ state }) => state === 'running' || state === 'streaming');
      const roles = members.map(({ role }) => role);
      return members.length === 3 && isRunning && roles.includes('leader') && roles.includes('sync_standby');
    });
  }

  async #makeDatabase(): Promise<void> {
    const client = new pg.Client({ ...this.#admin, port: ((await this.#leader()) as Member).port });
    await client.connect();
    await client.query(`create role strongroom login createrole password '${this.#password}'`);
    await client.query(`create database ${DATABASE} owner strongroom`);
    await client.end();
  }

  get #admin() {
    return { host: '127.0.0.1', user: 'postgres', password: this.#password, database: 'postgres' };
  }

  async #memberSettings({ name, port, restPort, dataDir }: Member): Promise<object> {
    const versions = await readdir('/usr/lib/postgresql');
    const password = this.#password;
    return {
      scope: DATABASE,
      name,
      restapi: { listen: `127.0.0.1:${restPort}`, connect_address: `127.0.0.1:${restPort}` },
      etcd3: { host: `127.0.0.1:${this.#etcdPort}` },
      bootstrap: {
        dcs: {
          ...{ ttl: 20, loop_wait: 3, retry_timeout: 4, maximum_lag_on_failover: 1_048_576 },
          // Without a standby that has a commit, no commit is acknowledged.
          ...{ synchronous_mode: true, synchronous_mode_strict: true },
          postgresql: { use_pg_rewind: true, parameters: { max_connections: 100, shared_buffers: '64MB' } },
        },
        initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, 'data-checksums'],
      },
      postgresql: {
        ...{ listen: `127.0.0.1:${port}`, connect_address: `127.0.0.1:${port}`, data_dir: join(dataDir, 'data') },
        bin_dir: `/usr/lib/postgresql/${versions.sort().at(-1)}/bin`,
        pgpass: join(dataDir, 'pgpass'),
        authentication: {
          superuser: { username: 'postgres', password },
          replication: { username: 'replicator', password },
          rewind: { username: 'rewinder', password },
        },
        pg_hba: ['host all all 127.0.0.1/32 scram-sha-256', 'host replication replicator 127.0.0.1/32 scram-sha-256'],
        parameters: { unix_socket_directories: dataDir },
      },
    };
  }

  #proxySettings(): string {
    const servers = this.#members.map(
      ({ name, port, restPort }) => `  server ${name} 127.0.0.1:${port} check port ${restPort}`,
    );
    return [
      ...['defaults', '  mode tcp', '  timeout connect 2s', '  timeout check 2s'],
      ...['  timeout client 30m', '  timeout server 30m'],
      ...['listen leader', `  bind 127.0.0.1:${this.#proxyPort}`, '  option httpchk OPTIONS /primary'],
      ...['  http-check expect status 200', '  default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions'],
      ...servers,
      '',
    ].join('\n');
  }
}
const get = (port: number, path: string): Promise<Response | null> =>
  fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(2_000) }).catch(() => null);
