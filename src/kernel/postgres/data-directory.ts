import { createHash } from 'node:crypto';
import {
  access,
  chmod,
  constants,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readlink,
  rm,
  stat,
  statfs,
  symlink,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ConfigurationError } from '../configuration-error.js';
import { fileErrorReason, makeDirectory } from '../files.js';

const OWN_FILES = ['postgres', 'postgres-password', 'root-key', 'bootstrap-token', 'service.lock'];

/**
 * Makes DATA_DIR if it is missing, and closes it to everybody else.
 *
 * A directory that others may enter is closed only when it is empty or already ours: DATA_DIR may name somebody's home
 * by mistake.
 *
 * @param dataDir absolute path
 * @throws ConfigurationError with one line that names the cause
 */
export async function prepareDataDirectory(dataDir: string): Promise<void> {
  await makeDataDirectory(dataDir);
  try {
    await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
    const { uid, mode } = await stat(dataDir);
    if ((mode & 0o077) !== 0) await closeToOthers(dataDir, uid);
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    throw new ConfigurationError([`DATA_DIR cannot be used: ${fileErrorReason(error)}`]);
  }
}

/** Makes DATA_DIR if it is missing. @throws ConfigurationError with one line that names the cause */
export async function makeDataDirectory(dataDir: string): Promise<void> {
  try {
    await makeDirectory(dataDir);
  } catch (error) {
    throw new ConfigurationError([`DATA_DIR cannot be used: ${fileErrorReason(error)}`]);
  }
}

async function closeToOthers(dataDir: string, owner: number): Promise<void> {
  const entries = (await readdir(dataDir)).filter((name) => name !== 'lost+found');
  if (entries.length > 0 && !entries.some((name) => OWN_FILES.includes(name))) {
    throw new ConfigurationError([
      'DATA_DIR is accessible to other users and has files of another program; use an empty directory, or set its mode to 0700',
    ]);
  }
  const self = process.getuid?.();
  if (self !== 0 && owner !== self) {
    throw new ConfigurationError([
      'DATA_DIR belongs to another account and is accessible to other users; use another directory',
    ]);
  }
  await chmod(dataDir, 0o700);
}

/** A server that starts may need a new segment of its write-ahead log, of 16 MiB. */
const NEEDED_BYTES = 20 * 1024 * 1024;

/** True when there is too little room in a directory for a server to start. */
export async function isDiskFull(directory: string): Promise<boolean> {
  return (await freeBytes(directory)) < NEEDED_BYTES;
}

/** Bytes that this account may still write in the file system of a directory. */
export async function freeBytes(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
}

/** The kernel takes 107 bytes; some clients add to the path. */
const MAX_BYTES = 100;

/** The socket of a server whose directory of sockets is this. */
export const socketFile = (host: string): string => join(host, '.s.PGSQL.5432');

/**
 * The directory that clients use as host. The socket is always in the cluster directory, which is closed to other users (0700).
 * If its path is too long for a socket address, this is a symbolic link in a short, closed directory.
 */
export async function socketHost(cluster: string): Promise<string> {
  if (Buffer.byteLength(socketFile(cluster)) <= MAX_BYTES) return cluster;
  const base = Buffer.byteLength(tmpdir()) <= 40 ? tmpdir() : '/tmp';
  const name = createHash('sha256').update(cluster).digest('hex').slice(0, 16);
  const wanted = join(base, `strongroom-${process.getuid?.()}-${name}`);
  // Anybody may write in a temporary directory, and could have taken the name to stand between us and the server.
  const host = join((await isOwnDirectory(wanted)) ? wanted : await mkdtemp(`${wanted}-`), 'db');
  await keepSocketHost(host, cluster);
  return host;
}

/** Restores the link if it was removed: cleaners of temporary directories remove old ones. */
export async function keepSocketHost(host: string, cluster: string): Promise<void> {
  if (host === cluster || (await readlink(host).catch(() => null)) === cluster) return;
  if (!(await isOwnDirectory(dirname(host)))) return;
  await rm(host, { force: true });
  await symlink(cluster, host);
}

/** Removes what `socketHost` has made; the cluster itself stays. */
export async function removeSocketHost(host: string, cluster: string): Promise<void> {
  if (host !== cluster) await rm(dirname(host), { recursive: true, force: true });
}

async function isOwnDirectory(path: string): Promise<boolean> {
  await mkdir(path, { mode: 0o700 }).catch(() => undefined);
  const found = await lstat(path).catch(() => null);
  return found?.isDirectory() === true && found.uid === process.getuid?.() && (found.mode & 0o077) === 0;
}
