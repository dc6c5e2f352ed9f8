import { randomUUID } from 'node:crypto';
import { access, link, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ConfigurationError } from '../configuration-error.js';
import { fileErrorReason } from '../files.js';
import { type Log, serverAccount } from './account.js';
import { findBinaries } from './binaries.js';
import { DATABASE, ensureCluster, readPassword } from './cluster.js';
import { freeBytes, prepareDataDirectory, removeSocketHost, socketFile, socketHost } from './data-directory.js';
import { isServerReady, serverUrl } from './server.js';
import { Supervisor } from './supervisor.js';

/** What an operator should know of a database of our own. */
export interface EmbeddedFigures {
  /** How often the server ended by itself and was brought back. */
  readonly restarts: number;
  /** Disk that is kept for bad times. */
  readonly reserveBytes: number;
}

/** A running database of our own. */
export interface EmbeddedPostgres {
  /** Connection string with password; the host is a percent-encoded directory of a socket. */
  readonly url: string;
  /** For metrics. */
  figures(): Promise<EmbeddedFigures>;
  /** Resolves when the server has stopped cleanly (fast shutdown). */
  stop(): Promise<void>;
}

/**
 * Starts the embedded Postgres of a data directory, making the cluster on the first start, and keeps it running.
 *
 * The server listens on a socket in a closed directory only, runs under an unprivileged account when the service is
 * root, and is brought back with growing pauses (up to 4 s) whenever it ends.
 *
 * @param options `dataDir`: absolute path; `log`: receives events without any value of a caller
 * @throws ConfigurationError when the place cannot work: not writable, used by another service, not closable
 */
export async function startEmbeddedPostgres({
  dataDir,
  log,
}: {
  dataDir: string;
  log: Log;
}): Promise<EmbeddedPostgres> {
  const cluster = join(dataDir, 'postgres');
  const undo: (() => Promise<void>)[] = [];
  try {
    await prepareDataDirectory(dataDir);
    undo.push(await lockDataDirectory(dataDir));
    const account = await serverAccount(cluster);
    const binaries = await findBinaries(account, log);
    const password = await ensureCluster({ dataDir, cluster, binaries, account });
    const host = await socketHost(cluster);
    undo.push(() => removeSocketHost(host, cluster));
    const setup = { dataDir, cluster, host, password, binaries, account };
    const supervisor = new Supervisor(setup, log);
    undo.push(() => supervisor.stop());
    await supervisor.start();
    const reserve = join(dataDir, 'ballast');
    const diskReserve = keepReserve(reserve, () => supervisor.isStopping, log);
    undo.push(() => diskReserve);
    let stopped: Promise<void> | undefined;
    return {
      url: serverUrl(setup, DATABASE),
      figures: async () => ({
        restarts: supervisor.restarts,
        reserveBytes: await stat(reserve).then(
          ({ size }) => size,
          () => 0,
        ),
      }),
      stop: () => {
        // The flag first: the ballast is waited for, and gives up when it sees it.
        stopped ??= Promise.all([supervisor.stop(), diskReserve]).then(() => unwind(undo));
        return stopped;
      },
    };
  } catch (error) {
    await unwind(undo);
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    throw new ConfigurationError([`DATA_DIR cannot be used: ${fileErrorReason(error)}`]);
  }
}

/**
 * Where the embedded Postgres of a running service answers, for programs beside it.
 *
 * @param dataDir absolute path
 * @returns null when none answers there
 */
export async function findEmbeddedPostgres(dataDir: string): Promise<string | null> {
  const cluster = join(dataDir, 'postgres');
  const password = await readPassword(dataDir);
  if (
    password === null ||
    !(await access(socketFile(cluster)).then(
      () => true,
      () => false,
    ))
  )
    return null;
  const url = serverUrl({ host: await socketHost(cluster), password }, DATABASE);
  return (await isServerReady(url)) ? url : null;
}

/** Undoes in reverse order: the lock goes last, when the server has ended. */
async function unwind(undo: readonly (() => Promise<void>)[]): Promise<void> {
  for (const step of [...undo].reverse()) await step();
}

const RESERVE_BYTES = 64 * 1024 * 1024;
const CHUNK_BYTES = 1024 * 1024;
const MIN_FREE_BYTES = 1024 * 1024 * 1024;

/**
 * Keeps a disk reserve: a file of 64 MiB that the operator deletes when the disk is full, because a server without space for its
 * write-ahead log cannot even recover. It is created again by the next start that finds 1 GiB free.
 *
 * @param isStopping called between chunks; an incomplete file is then removed
 */
async function keepReserve(path: string, isStopping: () => boolean, log: Log): Promise<void> {
  try {
    if ((await stat(path).catch(() => null))?.size === RESERVE_BYTES) return;
    if ((await freeBytes(dirname(path))) < MIN_FREE_BYTES) return;
    const file = await open(path, 'w', 0o600);
    try {
      const chunk = Buffer.alloc(CHUNK_BYTES);
      for (let written = 0; written < RESERVE_BYTES && !isStopping(); written += CHUNK_BYTES) await file.write(chunk);
    } finally {
      await file.close();
    }
    if (isStopping()) await rm(path, { force: true });
  } catch {
    await rm(path, { force: true }).catch(() => undefined);
    log('disk reserve not created', {}, 'warn');
  }
}

/**
 * Makes this process the only service on a data directory, until the returned function is called or the process dies.
 *
 * @throws ConfigurationError when another living service has it
 */
async function lockDataDirectory(dataDir: string): Promise<() => Promise<void>> {
  const lock = join(dataDir, 'service.lock');
  const own = `${lock}.${randomUUID()}`;
  const content = `${process.pid} ${await startOf(process.pid)} ${randomUUID()}\n`;
  await writeFile(own, content, { mode: 0o600 });
  try {
    for (;;) {
      // A link appears with its content: nobody ever reads a lock that does not name its holder yet.
      if (await ifErrno('EEXIST', link(own, lock))) break;
      await removeIfDead(lock, own);
    }
  } finally {
    await rm(own, { force: true });
  }
  return async () => {
    if ((await readFile(lock, 'utf8').catch(() => '')) === content) await rm(lock, { force: true });
  };
}

async function removeIfDead(lock: string, own: string): Promise<void> {
  const content = await readFile(lock, 'utf8').catch(() => null);
  if (content === null) return;
  const [pid, start] = content.split(' ');
  if (await isSameProcess(Number(pid), start ?? '')) {
    throw new ConfigurationError([
      'DATA_DIR is used by another running service; stop that service, or use a different directory',
    ]);
  }
  // Moved away before it is judged again: two that find the same dead holder must not remove each other's new lock.
  const aside = `${own}.dead`;
  if (!(await ifErrno('ENOENT', rename(lock, aside)))) return;
  if ((await readFile(aside, 'utf8')) !== content) await ifErrno('EEXIST', link(aside, lock));
  await rm(aside, { force: true });
}

async function isSameProcess(pid: number, start: string): Promise<boolean> {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return (await startOf(pid)) === start;
}

/** When a process started: a number that differs between two processes that have had the same id, also across boots. */
async function startOf(pid: number): Promise<string> {
  const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  if (status === null) return 'unknown';
  // The second field is a name that may hold blanks and brackets; counting starts behind its last bracket.
  const fields = status.slice(status.lastIndexOf(')') + 2).split(' ');
  // Killed, and not yet taken note of by its parent: it holds nothing any more.
  if (fields[0] === 'Z' || fields[0] === 'X') return 'dead';
  const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '');
  return `${boot.trim()}:${fields[19]}`;
}

/** True when the work was done, false when it failed with exactly this error. */
async function ifErrno(code: string, work: Promise<void>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === code) return false;
    throw error;
  }
}
