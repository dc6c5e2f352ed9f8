import { createHash } from 'node:crypto';
import { lstat, mkdir, mkdtemp, readlink, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

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
