import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, mkdtemp, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigurationError } from '../configuration-error.js';
import { nullIfMissing, syncDirectory, writeDurably } from '../files.js';
import { type Account, childOptions, clusterArgument } from './account.js';
import type { Binaries } from './binaries.js';

/** Name of the superuser and of the database. */
export const DATABASE = 'strongroom';

const UNFINISHED = 'postgres-new-';

const passwordFile = (dataDir: string) => join(dataDir, 'postgres-password');

/**
 * Makes the cluster on the first start, and returns its password.
 *
 * It is made beside its place and renamed when it is whole: a crash on the way leaves nothing that looks like a cluster.
 *
 * @throws ConfigurationError when a cluster has lost its password file
 */
export async function ensureCluster({
  dataDir,
  cluster,
  binaries,
  account,
}: {
  dataDir: string;
  cluster: string;
  binaries: Binaries;
  account: Account;
}): Promise<string> {
  const password = await readPassword(dataDir);
  // A cluster that cannot be looked at is there: another password must not be written over its own.
  if (await stat(cluster).catch(nullIfMissing)) {
    if (password !== null) return password;
    throw new ConfigurationError([
      'DATA_DIR has a database but its file postgres-password is missing; restore that file',
    ]);
  }
  const chosen = randomBytes(32).toString('base64url');
  await writeDurably(passwordFile(dataDir), `${chosen}\n`);
  await removeUnfinished(dataDir);
  // Under a name of its own: an initdb that outlived a killed service may still be writing to the one before.
  const next = await mkdtemp(join(dataDir, UNFINISHED));
  try {
    if (account !== null) await chown(next, account.uid, account.gid);
    await initialize(next, chosen, binaries, account);
    await rename(next, cluster);
  } catch (error) {
    await removeUnfinished(dataDir);
    throw error;
  }
  await syncDirectory(dataDir);
  return chosen;
}

/** The password of the cluster of a data directory; null when there is none. */
export async function readPassword(dataDir: string): Promise<string | null> {
  const text = await readFile(passwordFile(dataDir), 'utf8').catch(nullIfMissing);
  return text?.trim() ?? null;
}

async function removeUnfinished(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir)) {
    if (name.startsWith(UNFINISHED))
      await rm(join(dataDir, name), { recursive: true, force: true }).catch(() => undefined);
  }
}

async function initialize(cluster: string, password: string, binaries: Binaries, account: Account): Promise<void> {
  const path = `${cluster}-password`;
  await writeDurably(path, `${password}\n`);
  if (account !== null) await chown(path, account.uid, account.gid);
  const file = await open(path, 'r');
  try {
    // Gone before it is read: the server's account reaches it through the open file and needs no way to the directory.
    await rm(path);
    await runInitdb(cluster, file.fd, binaries, account);
  } finally {
    await file.close();
  }
}

function runInitdb(cluster: string, passwordFd: number, binaries: Binaries, account: Account): Promise<void> {
  const options = {
    username: DATABASE,
    pwfile: '/dev/fd/3',
    'auth-local': 'scram-sha-256',
    'auth-host': 'scram-sha-256',
    encoding: 'UTF8',
    locale: 'C',
    'locale-provider': 'builtin',
    'builtin-locale': 'C.UTF-8',
  };
  const child = spawn(
    binaries.initdb,
    [
      `--pgdata=${clusterArgument(cluster, account)}`,
      ...Object.entries(options).map(([name, value]) => `--${name}=${value}`),
      '--data-checksums',
      '--no-instructions',
    ],
    { ...childOptions(account), cwd: cluster, stdio: ['ignore', 'ignore', 'pipe', passwordFd] },
  );
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-1000);
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (status) => {
      if (status === 0) return resolve();
      const cause = said.match(/error: (.*)/)?.[1] ?? `initdb exited with ${status}`;
      reject(new ConfigurationError([`The embedded database cannot be created: ${cause}`]));
    });
  });
}
