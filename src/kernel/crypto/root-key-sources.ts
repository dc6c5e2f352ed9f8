import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, link, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigurationError } from '../configuration-error.js';
import { syncDirectory, writeDurably } from '../files.js';
import type { Log } from '../log.js';
import { parseRootKey, ROOT_KEY_BYTES, RootKey } from './root-key.js';
import type { RootKeys } from './root-keys.js';
import type { SealedText } from './sealed-text.js';
import { type RootKeyProvider, TRANSIT, Transit, TransitRefusal, type TransitSettings } from './transit.js';

/** Where the root keys of a node are. */
export interface KeySettings {
  readonly rootKey: SealedText | null;
  /** The root key that the installation is about to change to. */
  readonly nextRootKey: SealedText | null;
  readonly dataDir: string;
  readonly transit: TransitSettings;
}

/** What a database has of its root keys. */
export interface StoredRootKeys {
  readonly checkValue: Buffer;
  /** Its root key as it is encrypted outside; `null`: it is not. */
  readonly wrapped: string | null;
  /** The same of the one that it is about to change to. */
  readonly nextWrapped: string | null;
}

/** Root keys as they were found. */
interface FoundRootKeys {
  /** That of `ROOT_KEY`; null when the database has no such key any more, and another one is configured. */
  readonly rootKey: RootKey | null;
  /** That of `NEXT_ROOT_KEY`, if there is one. */
  readonly next: RootKey | null;
}

/** Where the root keys of a node come from: settings, files, or the database and whoever decrypts what it has. */
export class RootKeySources {
  readonly #root: string | null;
  readonly #next: string | null;

  constructor(
    private readonly settings: KeySettings,
    private readonly stored: StoredRootKeys | null,
    private readonly log: Log,
  ) {
    this.#root = settings.rootKey?.reveal() ?? null;
    this.#next = settings.nextRootKey?.reveal() ?? null;
  }

  /** @throws ConfigurationError for keys that do not fit the database, TemporaryError when whoever decrypts them is away */
  async find(): Promise<FoundRootKeys> {
    if (this.#next !== null && this.#next === this.#root && TRANSIT.test(this.#next))
      throw new ConfigurationError([
        'NEXT_ROOT_KEY is the same key of transit as ROOT_KEY; remove it, or name another key',
      ]);
    const rootKey = await this.#rootKey();
    if (rootKey === 'changed') return { rootKey: null, next: await this.#changedKey() };
    return { rootKey, next: await this.#nextRootKey() };
  }

  /** @returns 'changed' when the key of transit did not encrypt that of the database: it may be that of `NEXT_ROOT_KEY` already */
  async #rootKey(): Promise<RootKey | null | 'changed'> {
    const { stored } = this;
    const setting = this.#root;
    if (setting === null || !TRANSIT.test(setting))
      return loadRootKey({
        rootKey: setting,
        dataDir: this.settings.dataDir,
        databaseIsEmpty: stored === null,
        onReadableByOthers: this.#onReadableByOthers,
      });
    const transit = this.#transit(setting, 'ROOT_KEY');
    if (stored === null) return makeKey(transit);
    if (stored.wrapped === null) {
      if (this.#next !== null) return null;
      throw new ConfigurationError([
        'ROOT_KEY names transit, but the database has a root key of its own. Change it with NEXT_ROOT_KEY and npm run rotate-root-key',
      ]);
    }
    try {
      return await decrypted(transit, stored.wrapped, 'ROOT_KEY');
    } catch (error) {
      if (!(error instanceof TransitRefusal)) throw error;
      if (this.#next !== null && TRANSIT.test(this.#next) && stored.nextWrapped === null) return 'changed';
      throw explained(error, OF_ANOTHER_KEY);
    }
  }

  async #nextRootKey(): Promise<RootKey | null> {
    const setting = this.#next;
    if (setting === null) return null;
    const onReadableByOthers = this.#onReadableByOthers;
    if (!TRANSIT.test(setting)) return configuredKey(setting, { variable: 'NEXT_ROOT_KEY', onReadableByOthers });
    const transit = this.#transit(setting, 'NEXT_ROOT_KEY');
    const { wrapped = null, nextWrapped = null } = this.stored ?? {};
    if (nextWrapped !== null)
      return decrypted(transit, nextWrapped, 'NEXT_ROOT_KEY').catch((error: unknown) => {
        throw error instanceof TransitRefusal ? explained(error, OF_ANOTHER_CHANGE) : error;
      });
    // The database has changed to it already.
    if (wrapped !== null && !TRANSIT.test(this.#root ?? '')) return this.#changedKey();
    return makeKey(transit);
  }

  /** The root key of the database, as that of `NEXT_ROOT_KEY`. */
  async #changedKey(): Promise<RootKey> {
    const transit = this.#transit(this.#next ?? '', 'NEXT_ROOT_KEY');
    try {
      return await decrypted(transit, this.stored?.wrapped ?? '', 'NEXT_ROOT_KEY');
    } catch (error) {
      if (!(error instanceof TransitRefusal)) throw error;
      throw explained(error, OF_ANOTHER_KEY);
    }
  }

  #transit(setting: string, variable: string): Transit {
    return new Transit(setting, variable, this.settings.transit, this.log);
  }

  readonly #onReadableByOthers: KeySetting['onReadableByOthers'] = (variable) =>
    this.log.warn('root key readable by others', { variable });
}

/** What follows for the settings, where it is about the key, and not about the token or the place. */
const explained = (refusal: TransitRefusal, advice: string): ConfigurationError =>
  refusal.status === 400 ? new ConfigurationError([...refusal.violations, advice]) : refusal;

const OF_ANOTHER_KEY =
  'the root key of the database is encrypted by a key of transit that is not configured. Nothing was changed. If npm run rotate-root-key has changed it, make the new one ROOT_KEY, and remove NEXT_ROOT_KEY';
const OF_ANOTHER_CHANGE =
  'a change to another root key in transit was begun. Nothing was changed. Make that one NEXT_ROOT_KEY again, or remove NEXT_ROOT_KEY from every node and run npm run rotate-root-key -- --cancel';

/** Who encrypts the root key of the database outside; null when the setting of that key names nobody. */
export function providerOf(
  settings: Omit<KeySettings, 'dataDir'>,
  { inUse, next }: Pick<RootKeys, 'inUse' | 'next'>,
  log: Log,
): RootKeyProvider | null {
  const variable = inUse === next ? 'NEXT_ROOT_KEY' : 'ROOT_KEY';
  const setting = (inUse === next ? settings.nextRootKey : settings.rootKey)?.reveal() ?? '';
  return TRANSIT.test(setting) ? new Transit(setting, variable, settings.transit, log) : null;
}

async function makeKey(provider: RootKeyProvider): Promise<RootKey> {
  const bytes = randomBytes(ROOT_KEY_BYTES);
  try {
    return new RootKey(bytes, await provider.encrypt(bytes));
  } finally {
    bytes.fill(0);
  }
}

async function decrypted(provider: RootKeyProvider, ciphertext: string, variable: string): Promise<RootKey> {
  const bytes = await provider.decrypt(ciphertext);
  try {
    if (bytes.length !== ROOT_KEY_BYTES)
      throw new ConfigurationError([`${variable}: what transit decrypted is not a root key`]);
    return new RootKey(bytes, ciphertext);
  } finally {
    bytes.fill(0);
  }
}

const FILE_NAME = 'root-key';
const MAX_FILE_BYTES = 256;
/** As Kubernetes and Swarm mount secrets into containers, whose users are not the owner. */
const MOUNTED_MODES = [0o440, 0o444];

/** The variable that names a key, and who is told that others may read the file of it. */
interface KeySetting {
  readonly variable: 'ROOT_KEY' | 'NEXT_ROOT_KEY';
  readonly onReadableByOthers: (variable: string) => void;
}

/**
 * The key of a setting.
 *
 * @param text base64 or `file:PATH`
 * @throws ConfigurationError for a key that is missing, malformed or readable by others
 */
async function configuredKey(text: string, setting: KeySetting): Promise<RootKey> {
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
