import { access, chmod, constants, readdir, stat } from 'node:fs/promises';
import { ConfigurationError } from '../configuration-error.js';
import { makeDirectory, reasonOf } from '../make-directory.js';

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
    throw new ConfigurationError([`DATA_DIR cannot be used: ${reasonOf(error)}`]);
  }
}

/** Makes DATA_DIR if it is missing. @throws ConfigurationError with one line that names the cause */
export async function makeDataDirectory(dataDir: string): Promise<void> {
  try {
    await makeDirectory(dataDir);
  } catch (error) {
    throw new ConfigurationError([`DATA_DIR cannot be used: ${reasonOf(error)}`]);
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
