import { timingSafeEqual } from 'node:crypto';
import { ConfigurationFault } from '../configuration-fault.js';
import type { Query } from '../database/database.js';
import { loadRootKey, type RootKey } from './root-key.js';
import type { SealedText } from './sealed-text.js';

/**
 * Loads the root key and compares it with the check value of the database, before anything is written. A key is made
 * only for an empty database.
 *
 * @throws ConfigurationFault for a key that is missing, malformed, readable by others, or not the one of this database
 */
export async function openInstallation(
  query: Query,
  { rootKey: setting, dataDir }: { rootKey: SealedText | null; dataDir: string },
): Promise<RootKey> {
  const checkValue = await storedCheckValue(query);
  const rootKey = await loadRootKey({
    rootKey: setting?.reveal() ?? null,
    dataDir,
    databaseIsEmpty: checkValue === null,
  });
  if (checkValue !== null && !timingSafeEqual(checkValue, rootKey.checkValue())) {
    throw new ConfigurationFault([
      'ROOT_KEY is not the key that encrypted this database. Nothing was changed. Configure the right key, or another database',
    ]);
  }
  return rootKey;
}

/** Ties an empty database to its root key. */
export async function recordInstallation(query: Query, rootKey: RootKey): Promise<void> {
  await query('insert into installation (key_check_value) values ($1) on conflict do nothing', [rootKey.checkValue()]);
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
