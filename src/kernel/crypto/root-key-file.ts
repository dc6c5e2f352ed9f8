import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, link, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigurationError } from '../configuration-error.js';
import { syncDirectory, writeDurably } from '../files.js';
import { parseRootKey, ROOT_KEY_BYTES, type RootKey } from './root-key.js';

const FILE_NAME = 'root-key';
const MAX_FILE_BYTES = 256;
/** As Kubernetes and Swarm mount secrets into containers, whose users are not the owner. */
const MOUNTED_MODES = [0o440, 0o444];

/** The variable that names a key, and who is told that others may read the file of it. */
export interface KeySetting {
  readonly variable: 'ROOT_KEY' | 'NEXT_ROOT_KEY';
  readonly onReadableByOthers: (variable: string) => void;
}

/**
 * The key of a setting.
 *
 * @param text base64 or `file:PATH`
 * @throws ConfigurationError for a key that is missing, malformed or readable by others
 */
export async function configuredKey(text: string, setting: KeySetting): Promise<RootKey> {
  const { variable } = setting;
  if (!text.startsWith('file:')) return parseRootKey(text, variable);
  const key = await readKeyFile(text.slice('file:'.length), `the file that ${variable} names`, setting);
  if (key === null) throw new ConfigurationError([`${variable} names a file that does not exist`]);
  return key;
}

/**
 * The configured root key, or the one of `DATA_DIR`, which is made only for an empty database: a second key for a used
 * one would open nothing in it.
 *
 * @param options `rootKey`: base64, `file:PATH`, or null for the file in `dataDir`
 * @throws ConfigurationError for a key that is missing, malformed or readable by others
 */
export async function loadRootKey({
  rootKey,
  dataDir,
  databaseIsEmpty,
  onReadableByOthers = () => undefined,
}: {
  rootKey: string | null;
  dataDir: string;
  databaseIsEmpty: boolean;
  onReadableByOthers?: KeySetting['onReadableByOthers'];
}): Promise<RootKey> {
  if (rootKey !== null) return configuredKey(rootKey, { variable: 'ROOT_KEY', onReadableByOthers });
  const path = join(dataDir, FILE_NAME);
  const kept = await readKeyFile(path, 'the root-key in DATA_DIR');
  if (kept !== null) return kept;
  if (!databaseIsEmpty)
    throw new ConfigurationError([
      'ROOT_KEY is not set and DATA_DIR has no root-key, but the database is in use. Configure the key that encrypted it',
    ]);
  await makeKeyFile(path, dataDir);
  const made = await readKeyFile(path, 'the root-key in DATA_DIR');
  if (made === null) throw new ConfigurationError(['The root-key in DATA_DIR disappeared right after it was created']);
  return made;
}

/**
 * The key in a file, or null when there is no file.
 *
 * @param setting of a file that may be mounted; the one in `DATA_DIR` is our own
 */
async function readKeyFile(path: string, name: string, setting?: KeySetting): Promise<RootKey | null> {
  let file: FileHandle;
  try {
    // Not blocking: the path may name a pipe, which nobody writes to.
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new ConfigurationError([`${name} cannot be read by this user`]);
  }
  const buffer = Buffer.alloc(MAX_FILE_BYTES);
  try {
    // Asked of the open file and not of the path, which may name another file by then.
    const status = await file.stat();
    if (!status.isFile()) throw new ConfigurationError([`${name} is not a regular file`]);
    const isMounted = setting !== undefined && status.uid === 0 && MOUNTED_MODES.includes(status.mode & 0o777);
    if (isMounted) setting.onReadableByOthers(setting.variable);
    else if ((status.mode & 0o077) !== 0)
      throw new ConfigurationError([`${name} is readable or writable by other users; run chmod 600 on it`]);
    const { bytesRead } = await file.read(buffer, 0, MAX_FILE_BYTES, 0);
    return parseFile(buffer.toString('latin1', 0, bytesRead), name);
  } finally {
    buffer.fill(0);
    await file.close();
  }
}

function parseFile(text: string, name: string): RootKey {
  try {
    return parseRootKey(text.replace(/\r?\n$/, ''));
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    throw new ConfigurationError([`${name} must contain 32 bytes in base64`]);
  }
}

/** Makes a key file, whole and on the disk, or leaves the one that another process made first. */
async function makeKeyFile(path: string, dataDir: string): Promise<void> {
  const draft = `${path}.${randomBytes(8).toString('hex')}`;
  const bytes = randomBytes(ROOT_KEY_BYTES);
  try {
    await writeDurably(draft, `${bytes.toString('base64')}\n`);
    // A link and not a rename: it refuses to replace a key that somebody may already have sealed with.
    await link(draft, path).catch(unlessItExists);
    await rm(draft);
    await syncDirectory(dataDir);
  } catch {
    await rm(draft, { force: true }).catch(() => undefined);
    throw new ConfigurationError(['The root-key cannot be written to DATA_DIR']);
  } finally {
    bytes.fill(0);
  }
}

function unlessItExists(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}
