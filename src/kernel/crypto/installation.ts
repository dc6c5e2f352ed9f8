import { timingSafeEqual } from 'node:crypto';
import { ConfigurationFault } from '../configuration-fault.js';
import type { Query } from '../database/database.js';
import { createLog, type Log } from '../log.js';
import { KeptKeys } from './kept-keys.js';
import type { RootKey } from './root-key.js';
import { configuredKey, type KeySetting, loadRootKey } from './root-key-file.js';
import { InstallationKeys, RootKeys } from './root-keys.js';
import type { SealedText } from './sealed-text.js';

/** Where the root keys of a node are. */
export interface KeySettings {
  readonly rootKey: SealedText | null;
  /** The root key that the installation is about to change to. */
  readonly nextRootKey: SealedText | null;
  readonly dataDir: string;
}

/**
 * Loads the root keys and compares them with the check value of the database, before anything is written. A key is made
 * only for an empty database.
 *
 * @param log hears of a mounted file that others may read, and of a root key that is not needed any more
 * @throws ConfigurationFault for a key that is missing, malformed, readable by others, or not the one of this database
 */
export async function openInstallation(
  query: Query,
  { rootKey: setting, nextRootKey, dataDir }: KeySettings,
  log: Log = createLog('silent'),
): Promise<RootKeys> {
  const onReadableByOthers = (variable: string) => log.warn('root key readable by others', { variable });
  const checkValue = await storedCheckValue(query);
  const rootKey = await loadRootKey({
    rootKey: setting?.reveal() ?? null,
    dataDir,
    databaseIsEmpty: checkValue === null,
    onReadableByOthers,
  });
  const next = await nextKey(nextRootKey, rootKey, onReadableByOthers);
  if (checkValue === null || isOf(rootKey, checkValue)) return new RootKeys(rootKey, next);
  if (next !== null && isOf(next, checkValue)) {
    log.warn('former root key configured', { variable: 'ROOT_KEY' });
    return new RootKeys(rootKey, next, next);
  }
  throw new ConfigurationFault([
    'ROOT_KEY is not the key that encrypted this database. Nothing was changed. Configure the right key, or another database',
  ]);
}

async function nextKey(
  setting: SealedText | null,
  rootKey: RootKey,
  onReadableByOthers: KeySetting['onReadableByOthers'],
): Promise<RootKey | null> {
  if (setting === null) return null;
  const next = await configuredKey(setting.reveal(), { variable: 'NEXT_ROOT_KEY', onReadableByOthers });
  if (isOf(next, rootKey.checkValue()))
    throw new ConfigurationFault(['NEXT_ROOT_KEY is the same key as ROOT_KEY; remove it, or configure another key']);
  return next;
}

/** True when the check value is that of the root key. */
export const isOf = (rootKey: RootKey, checkValue: Buffer): boolean =>
  timingSafeEqual(checkValue, rootKey.checkValue());

/**
 * Ties an empty database to its root key, and stores the keys that stay the same when the root key changes, where the database
 * has none yet.
 *
 * @returns all keys of the installation
 */
export async function recordInstallation(query: Query, rootKeys: RootKeys): Promise<InstallationKeys> {
  const { inUse } = rootKeys;
  await query(`insert into installation (key_check_value, kept_keys_sealed) values ($1, $2) on conflict do nothing`, [
    inUse.checkValue(),
    KeptKeys.make().seal(inUse),
  ]);
  await query('update installation set kept_keys_sealed = $1 where kept_keys_sealed is null', [
    KeptKeys.ofRootKey(inUse).seal(inUse),
  ]);
  return openKeptKeys(query, rootKeys);
}

/**
 * All keys of an installation, for programs that must not write.
 *
 * @throws SEALED_VALUE_INVALID when the kept keys were changed in the database
 */
export async function openKeptKeys(query: Query, rootKeys: RootKeys): Promise<InstallationKeys> {
  // As JSON: a database that was not upgraded yet does not have the column.
  const [row] = await query<{ sealed: Buffer | null }>(
    `select (to_jsonb(installation) ->> 'kept_keys_sealed')::bytea as sealed from installation`,
  );
  const sealed = row?.sealed ?? null;
  const kept = sealed === null ? KeptKeys.ofRootKey(rootKeys.inUse) : KeptKeys.open(rootKeys, sealed);
  return new InstallationKeys(rootKeys, kept);
}

async function storedCheckValue(query: Query): Promise<Buffer | null> {
  const [table] = await query<{ exists: boolean }>(`select to_regclass('installation') is not null as exists`);
  if (table?.exists !== true) return null;
  const [installation] = await query<{ key_check_value: Buffer }>('select key_check_value from installation');
  if (installation !== undefined) return installation.key_check_value;
  const [key] = await query('select 1 from data_key limit 1');
  if (key !== undefined)
    throw new ConfigurationFault([
      'the database has keys but no check value of its root key; restore it from a backup',
    ]);
  return null;
}
