import { timingSafeEqual } from 'node:crypto';
import { ConfigurationError } from '../configuration-error.js';
import type { Query } from '../database/database.js';
import { hasTables } from '../database/migration.sql.js';
import { AppError } from '../errors.js';
import { createLog, type Log } from '../log.js';
import { findAnyKey } from './data-key.sql.js';
import { findInstallation, insertInstallation, insertNextRootKey } from './installation.queries.js';
import type { RootKey } from './root-key.js';
import { type KeySettings, RootKeySources, type StoredRootKeys } from './root-key-sources.js';
import { InstallationKeys, RootKeys } from './root-keys.js';
import { StableKeys } from './stable-keys.js';

/**
 * Loads the root keys and compares them with the check value of the database, before anything is written. A key is made
 * only for an empty database, or to change to one that is encrypted outside.
 *
 * @param log hears of a mounted file that others may read, of a root key that is not needed any more, and of waiting
 * @throws ConfigurationError for a key that is missing, malformed, readable by others, or not the one of this database;
 *   TemporaryError when whoever decrypts it is away
 */
export async function openRootKeys(
  query: Query,
  settings: KeySettings,
  log: Log = createLog('silent'),
): Promise<RootKeys> {
  const stored = await storedInstallation(query);
  const { rootKey, next } = await new RootKeySources(settings, stored, log).find();
  if (rootKey !== null && next !== null && isCheckValueOf(next, rootKey.checkValue()))
    throw new ConfigurationError(['NEXT_ROOT_KEY is the same key as ROOT_KEY; remove it, or configure another key']);
  if (rootKey !== null && (stored === null || isCheckValueOf(rootKey, stored.checkValue)))
    return new RootKeys(rootKey, next);
  if (next !== null && stored !== null && isCheckValueOf(next, stored.checkValue)) {
    log.warn('former root key configured', { variable: 'ROOT_KEY' });
    return new RootKeys(rootKey ?? next, next, next);
  }
  const isOutside = stored !== null && stored.wrapped !== null;
  throw new ConfigurationError([
    `ROOT_KEY is not the key that encrypted this database${isOutside ? ': transit encrypts that one' : ''}. Nothing was changed. Configure the right key, or another database`,
  ]);
}

/** True when the check value is that of the root key. */
export const isCheckValueOf = (rootKey: RootKey, checkValue: Buffer): boolean =>
  timingSafeEqual(checkValue, rootKey.checkValue());

/**
 * Ties an empty database to its root key, and stores the keys that stay the same when that changes.
 *
 * @returns all keys of the installation
 */
export async function recordInstallation(query: Query, rootKeys: RootKeys): Promise<InstallationKeys> {
  const { inUse, next } = rootKeys;
  await insertInstallation(query, {
    checkValue: inUse.checkValue(),
    keptKeysSealed: StableKeys.make().seal(inUse),
    wrapped: inUse.ciphertext(),
  });
  // All nodes change to the same one.
  if (next !== null && next !== inUse && next.ciphertext() !== null)
    await insertNextRootKey(query, { wrapped: next.ciphertext() });
  return openInstallationKeys(query, rootKeys);
}

/**
 * All keys of an installation, for programs that must not write.
 *
 * @throws SEALED_VALUE_INVALID when the stable keys were changed in the database or deleted
 */
export async function openInstallationKeys(query: Query, rootKeys: RootKeys): Promise<InstallationKeys> {
  const [row] = await findInstallation(query, {});
  if (row === undefined || row.keptKeysSealed === null) throw new AppError('SEALED_VALUE_INVALID');
  return new InstallationKeys(rootKeys, StableKeys.open(rootKeys, row.keptKeysSealed));
}

async function storedInstallation(query: Query): Promise<StoredRootKeys | null> {
  const [tables] = await hasTables(query, { names: ['installation'] });
  if (tables?.haveAll !== true) return null;
  const [installation] = await findInstallation(query, {});
  if (installation !== undefined) return installation;
  if ((await findAnyKey(query, {})).length > 0)
    throw new ConfigurationError([
      'the database has keys but no check value of its root key; restore it from a backup',
    ]);
  return null;
}
