import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeWith, isThere } from '../describe-with.ts';
import { freePort } from '../free-port.ts';
import { ofThisRun } from '../processes.ts';
import { until } from '../until.ts';

/** Where Debian has the programs of a server; not every PATH has it. */
const SERVER_PROGRAMS = '/usr/sbin';
const PATH = `${process.env.PATH ?? ''}:${SERVER_PROGRAMS}`;

/** Its accounts need a name that the system knows, and nothing else of it: these exist on every Debian. Their passwords are Samba's own. */
const ADMIN = 'games';
const STOCK_NAMES = [
  'backup',
  'man',
  'lp',
  'mail',
  'news',
  'uucp',
  'list',
  'irc',
  'daemon',
  'bin',
  'sys',
  'sync',
  'www-data',
];

/** An account of the server. */
export interface SambaAccount {
  readonly username: string;
  readonly password: string;
}

/** What a server requires of passwords and logins, as Samba calls it. A number is in characters, passwords, attempts or seconds. */
export type SambaPolicy =
  | 'min password length'
  | 'password history'
  | 'minimum password age'
  | 'maximum password age'
  | 'bad lockout attempt'
  | 'lockout duration';

const PROGRAMS = ['smbd', 'pdbedit', 'net', 'rpcclient'];

/** `describe` for tests against a real Samba, which are passed over where it is missing; see `describeWith`. */
export const describeWithSamba = (name: string, tests: () => void): void => describeWith(PROGRAMS, name, tests, PATH);

/** Whether there is a Samba. */
export const hasSamba = (): boolean => PROGRAMS.every((program) => isThere(program, PATH));

/**
 * A real Samba server of its own: its files are in a temporary folder, it listens on this machine only, and its accounts are
 * nobody else's. SMB 3 with encryption, as a Windows server that was set up with care.
 */
export class Samba {
  readonly host = '127.0.0.1';
  readonly port: number;
  /** May reset the passwords of others. */
  readonly admin: SambaAccount = { username: ADMIN, password: newPassword() };
  readonly #folder: string;
  readonly #free = [...STOCK_NAMES];
  readonly #taken = new Set<string>();

  private constructor(folder: string, port: number) {
    this.#folder = folder;
    this.port = port;
  }

  /** @param more lines of its configuration, such as `server max protocol = SMB2_10` */
  static async start(more: readonly string[] = []): Promise<Samba> {
    // Short: paths of sockets have a limit.
    const folder = await mkdtemp(join(tmpdir(), 'smb-'));
    for (const name of ['private', 'lock', 'state', 'cache', 'pid', 'ncalrpc', 'log'])
      await mkdir(join(folder, name), { mode: 0o700 });
    const port = await freePort();
    await writeFile(join(folder, 'smb.conf'), configuration(folder, port, more));
    const samba = new Samba(folder, port);
    try {
      // Before the server runs: it makes the same files when it starts.
      await samba.setPassword(samba.admin.username, samba.admin.password);
      await samba.#run('net', ['sam', 'rights', 'grant', ADMIN, 'SeAddUsersPrivilege']);
      samba.#serve();
      await until('samba to listen', 20_000, () => isOpen(port));
    } catch (error) {
      await samba.stop();
      throw error;
    }
    return samba;
  }

  /** An account that no other test of this server uses. */
  async account(): Promise<SambaAccount> {
    const username = this.#free.shift();
    if (username === undefined) throw new Error('the server has no further account');
    this.#taken.add(username);
    const password = newPassword();
    await this.setPassword(username, password);
    return { username, password };
  }

  /** Makes the account, or gives it another password, behind everybody's back. */
  async setPassword(username: string, password: string): Promise<void> {
    await this.#run('pdbedit', ['-t', '-a', '-u', username], `${password}\n${password}\n`);
  }

  /** Gives an account back, for another test. */
  async remove(username: string): Promise<void> {
    await this.#run('pdbedit', ['-x', '-u', username]);
    this.#taken.delete(username);
    this.#free.push(username);
  }

  /** Gives all of them back. */
  async removeAll(): Promise<void> {
    for (const username of this.#taken) await this.remove(username);
  }

  async disable(username: string): Promise<void> {
    await this.#run('pdbedit', ['-u', username, '-c', '[D]']);
  }

  async enable(username: string): Promise<void> {
    await this.#run('pdbedit', ['-u', username, '-c', '[]']);
  }

  /** Unlocks an account, and forgets its failed logins. */
  async unlock(username: string): Promise<void> {
    await this.#run('pdbedit', ['-u', username, '-z']);
    await this.enable(username);
  }

  /** Lets an account log in only to change its password. */
  async mustChange(username: string, must = true): Promise<void> {
    await this.#run('net', ['sam', 'set', 'pwdmustchangenow', username, must ? 'yes' : 'no']);
  }

  async policy(name: SambaPolicy, value: number): Promise<void> {
    await this.#run('pdbedit', ['-P', name, '-C', String(value)]);
  }

  /** Failed logins of an account since the last good one. */
  async badPasswords(username: string): Promise<number> {
    const text = await this.#run('pdbedit', ['-v', '-u', username]);
    return Number(/^Bad password count\s*:\s*(\d+)/m.exec(text)?.[1]);
  }

  /** Whether a password is the one of an account: asked with the client of Samba, not with ours. */
  async takes(username: string, password: string): Promise<boolean> {
    const args = ['-s', '/dev/null', '-p', String(this.port), '-U', username, '--client-protection=encrypt', this.host];
    const env = { PATH, LC_ALL: 'C.UTF-8', PASSWD: password };
    const { stdout } = await ended('rpcclient', args, env, 'getusername\n');
    return stdout.includes(`Account Name: ${username},`);
  }

  /** Stops what changes passwords, so that it takes requests and never answers. @returns what lets it go on */
  async hang(): Promise<() => void> {
    // It runs from its first request on.
    await this.takes(this.admin.username, this.admin.password);
    const stopped = await this.#processes('rpcd_lsad');
    for (const pid of stopped) process.kill(pid, 'SIGSTOP');
    return () => signal(stopped, 'SIGCONT');
  }

  /** Ends all its processes, and removes its files. */
  async stop(): Promise<void> {
    // Those that serve calls have a session of their own and outlive the server that began them; a stopped one ends only by this signal.
    await until('the processes of samba to end', 20_000, async () => {
      const pids = await this.#processes();
      signal(pids, 'SIGKILL');
      return pids.length === 0;
    });
    await rm(this.#folder, { recursive: true, force: true });
  }

  #serve(): void {
    const args = ['-F', '--no-process-group', '-s', this.#settings];
    spawn('smbd', args, { env: { PATH, ...ofThisRun() }, stdio: 'ignore', detached: true }).on(
      'error',
      () => undefined,
    );
  }

  get #settings(): string {
    return join(this.#folder, 'smb.conf');
  }

  async #run(program: string, args: readonly string[], input = ''): Promise<string> {
    const all = program === 'net' ? ['-s', this.#settings, ...args] : [...args, '-s', this.#settings];
    const { code, stdout, stderr } = await ended(program, all, { PATH }, input);
    if (code !== 0) throw new Error(`${program} ${args.join(' ')} failed: ${stdout}${stderr}`);
    return stdout;
  }

  /** Ids of processes whose command names our folder: children of the server and of its helper. */
  async #processes(name = ''): Promise<number[]> {
    const pids = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry));
    const commands = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
    return pids
      .filter((_, index) => commands[index]?.includes(this.#settings) && commands[index]?.includes(name))
      .map(Number);
  }
}

/** A password as no policy refuses it. */
export const newPassword = (): string => `Aa1-${randomBytes(12).toString('hex')}`;

const configuration = (folder: string, port: number, more: readonly string[]): string =>
  [
    '[global]',
    'workgroup = LABGRP',
    'netbios name = LABHOST',
    'server role = standalone server',
    'interfaces = lo',
    'bind interfaces only = yes',
    `smb ports = ${port}`,
    'disable netbios = yes',
    'disable spoolss = yes',
    'load printers = no',
    'printcap name = /dev/null',
    `passdb backend = tdbsam:${folder}/private/passdb.tdb`,
    `private dir = ${folder}/private`,
    `lock directory = ${folder}/lock`,
    `state directory = ${folder}/state`,
    `cache directory = ${folder}/cache`,
    `pid directory = ${folder}/pid`,
    `ncalrpc dir = ${folder}/ncalrpc`,
    `log file = ${folder}/log/smb.log`,
    'map to guest = never',
    'restrict anonymous = 2',
    ...(more.some((line) => line.includes('protocol')) ? [] : ['server min protocol = SMB3_00']),
    ...(more.some((line) => line.includes('encrypt')) ? [] : ['server smb encrypt = required']),
    ...more,
    '',
  ].join('\n');

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function ended(program: string, args: readonly string[], env: Record<string, string>, input: string): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = execFile(program, args, { env }, (error, stdout, stderr) => {
      if (error !== null && typeof error.code !== 'number') reject(error);
      else resolve({ code: (error?.code as number | undefined) ?? 0, stdout, stderr });
    });
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  });
}

function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch {
      // It has ended.
    }
  }
}

const isOpen = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
