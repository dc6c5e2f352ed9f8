import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, link, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigurationFault } from '../configuration-fault.js';
import { syncDirectory, writeDurably } from '../durable-file.js';
import { deriveKey } from './derive-key.js';
import { type DataKey, openBytes, type SealPlace, sealBytes, toKey, uuidText } from './seal.js';

const ROOT_KEY_BYTES = 32;
const FILE_NAME = 'root-key';
const MAX_FILE_BYTES = 256;

/**
 * The key above all keys. Never used as it is: each purpose has a key derived from it.
 */
export class RootKey {
  readonly #bytes: Buffer;
  readonly #wrapping: DataKey;

  /** @param bytes 32 bytes; a copy is kept, so the caller may clear them */
  constructor(bytes: Uint8Array) {
    if (bytes.length !== ROOT_KEY_BYTES) throw new Error('a root key has 32 bytes');
    this.#bytes = Buffer.from(bytes);
    this.#wrapping = { id: uuidText(this.#derive('wrapping-id', 16)), key: toKey(this.#derive('wrapping', 32)) };
  }

  /** 16 bytes that tell this root key from others and say nothing of it. Kept in the database. */
  checkValue(): Buffer {
    return this.#derive('check-value', 16);
  }

  /** Seals a key for its place. */
  wrap(key: Buffer, place: SealPlace): Buffer {
    return sealBytes(this.#wrapping, place, key);
  }

  /** @throws SEALED_VALUE_INVALID unless this root key wrapped it for this place */
  unwrap(record: Uint8Array, place: SealPlace): Buffer {
    return openBytes(this.#wrapping, place, record);
  }

  /** A key of 32 bytes for one kind of MAC. */
  macKey(label: string): Buffer {
    return this.#derive(`mac/${label}`, 32);
  }

  /**
   * Seals cursors of one kind for an organization, whose id it has: the key is never stored, so that it needs no other.
   *
   * @param kind another key for each, by which a cursor of one is none of another
   */
  cursorKey(organizationId: string, kind: string): DataKey {
    return { id: organizationId, key: toKey(this.#derive(`cursor/${organizationId}/${kind}`, 32)) };
  }

  #derive(label: string, bytes: number): Buffer {
    return deriveKey(this.#bytes, `root/${label}`, bytes);
  }
}

/** @param text base64 of 32 bytes. @throws ConfigurationFault for anything else, a second spelling of the same bytes too */
export function parseRootKey(text: string): RootKey {
  const bytes = Buffer.from(text, 'base64');
  try {
    // Node decodes whatever looks like base64 and skips the rest; only what it would write itself is accepted.
    if (bytes.length !== ROOT_KEY_BYTES || bytes.toString('base64') !== text)
      throw new ConfigurationFault(['ROOT_KEY must be 32 bytes in base64']);
    return new RootKey(bytes);
  } finally {
    bytes.fill(0);
  }
}

/**
 * The configured root key, or the one of `DATA_DIR`, which is made only for an empty database: a second key for a used
 * one would open nothing in it.
 *
 * @param options `rootKey`: base64, `file:PATH`, or null for the file in `dataDir`
 * @throws ConfigurationFault for a key that is missing, malformed or readable by others
 */
export async function loadRootKey({
  rootKey,
  dataDir,
  databaseIsEmpty,
}: {
  rootKey: string | null;
  dataDir: string;
  databaseIsEmpty: boolean;
}): Promise<RootKey> {
  if (rootKey !== null && !rootKey.startsWith('file:')) return parseRootKey(rootKey);
  if (rootKey !== null) {
    const configured = await readKeyFile(rootKey.slice('file:'.length), 'the file that ROOT_KEY names');
    if (configured === null) throw new ConfigurationFault(['ROOT_KEY names a file that does not exist']);
    return configured;
  }
  const path = join(dataDir, FILE_NAME);
  const kept = await readKeyFile(path, 'the root-key in DATA_DIR');
  if (kept !== null) return kept;
  if (!databaseIsEmpty)
    throw new ConfigurationFault([
      'ROOT_KEY is not set and DATA_DIR has no root-key, but the database is in use. Configure the key that encrypted it',
    ]);
  await makeKeyFile(path, dataDir);
  const made = await readKeyFile(path, 'the root-key in DATA_DIR');
  if (made === null) throw new ConfigurationFault(['The root-key in DATA_DIR disappeared right after it was created']);
  return made;
}

/** The key in a file, or null when there is no file. */
async function readKeyFile(path: string, name: string): Promise<RootKey | null> {
  let file: FileHandle;
  try {
    // Not blocking: the path may name a pipe, which nobody writes to.
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new ConfigurationFault([`${name} cannot be read by this user`]);
  }
  const buffer = Buffer.alloc(MAX_FILE_BYTES);
  try {
    // Asked of the open file and not of the path, which may name another file by then.
    const status = await file.stat();
    if (!status.isFile()) throw new ConfigurationFault([`${name} is not a regular file`]);
    if ((status.mode & 0o077) !== 0)
      throw new ConfigurationFault([`${name} is readable or writable by other users; run chmod 600 on it`]);
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
    if (!(error instanceof ConfigurationFault)) throw error;
    throw new ConfigurationFault([`${name} must contain 32 bytes in base64`]);
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
    throw new ConfigurationFault(['The root-key cannot be written to DATA_DIR']);
  } finally {
    bytes.fill(0);
  }
}

function unlessItExists(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}
