import { randomBytes, timingSafeEqual } from 'node:crypto';
import { ConfigurationFault } from '../configuration-fault.js';
import type { Log } from '../log.js';
import { ROOT_KEY_BYTES, RootKey } from './root-key.js';
import { configuredKey, type KeySetting, loadRootKey } from './root-key-file.js';
import type { SealedText } from './sealed-text.js';
import { type RootKeyProvider, TRANSIT, Transit, type TransitSettings } from './transit.js';

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

/** Where the root keys of a node come from: settings, files, or the database and whoever decrypts what it has. */
export class RootKeySources {
  constructor(
    private readonly settings: KeySettings,
    private readonly stored: StoredRootKeys | null,
    private readonly log: Log,
  ) {}

  /** That of `ROOT_KEY`. @returns null when the database has no such key any more, and another one is configured */
  async rootKey(): Promise<RootKey | null> {
    const { rootKey, nextRootKey, dataDir } = this.settings;
    const setting = rootKey?.reveal() ?? null;
    const { stored } = this;
    if (setting === null || !TRANSIT.test(setting))
      return loadRootKey({
        rootKey: setting,
        dataDir,
        databaseIsEmpty: stored === null,
        onReadableByOthers: this.#onReadableByOthers,
      });
    const transit = new Transit(setting, 'ROOT_KEY', this.settings.transit, this.log);
    if (stored === null) return makeKey(transit);
    if (stored.wrapped !== null) return decrypted(transit, stored.wrapped, 'ROOT_KEY');
    if (nextRootKey !== null) return null;
    throw new ConfigurationFault([
      'ROOT_KEY names transit, but the database has a root key of its own. Change it with NEXT_ROOT_KEY and npm run rotate-root-key',
    ]);
  }

  /** That of `NEXT_ROOT_KEY`, which is made when it is to be encrypted outside and the database has none yet. */
  async nextRootKey(): Promise<RootKey | null> {
    const { rootKey, nextRootKey } = this.settings;
    const setting = nextRootKey?.reveal() ?? null;
    if (setting === null) return null;
    const onReadableByOthers = this.#onReadableByOthers;
    if (!TRANSIT.test(setting)) return configuredKey(setting, { variable: 'NEXT_ROOT_KEY', onReadableByOthers });
    const transit = new Transit(setting, 'NEXT_ROOT_KEY', this.settings.transit, this.log);
    const { wrapped = null, nextWrapped = null } = this.stored ?? {};
    if (nextWrapped !== null) return decrypted(transit, nextWrapped, 'NEXT_ROOT_KEY');
    // The database has changed to it already.
    if (wrapped !== null && !TRANSIT.test(rootKey?.reveal() ?? '')) {
      const current = await decrypted(transit, wrapped, 'NEXT_ROOT_KEY');
      if (this.stored !== null && timingSafeEqual(current.checkValue(), this.stored.checkValue)) return current;
    }
    return makeKey(transit);
  }

  readonly #onReadableByOthers: KeySetting['onReadableByOthers'] = (variable) =>
    this.log.warn('root key readable by others', { variable });
}

/** Who encrypts the root key outside; null when `ROOT_KEY` names nobody. */
export function providerOf(settings: Pick<KeySettings, 'rootKey' | 'transit'>, log: Log): RootKeyProvider | null {
  const setting = settings.rootKey?.reveal() ?? '';
  return TRANSIT.test(setting) ? new Transit(setting, 'ROOT_KEY', settings.transit, log) : null;
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
      throw new ConfigurationFault([`${variable}: what transit decrypted is not a root key`]);
    return new RootKey(bytes, ciphertext);
  } finally {
    bytes.fill(0);
  }
}
