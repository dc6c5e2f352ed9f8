import { ConfigurationError } from '../configuration-error.js';
import type { Query } from '../database/database.js';
import { LOCK } from '../database/session.sql.js';
import type { RowFrom } from '../database/statement.js';
import { AppError } from '../errors.js';
import { NO_ID } from '../ids.js';
import { lockKeysUnderRoot, storeWrapped } from './data-key.sql.js';
import { isCheckValueOf } from './installation.js';
import { deleteNextRootKey, lockInstallation, replaceRootKey, replaceWrappedRootKey } from './installation.queries.js';
import { columnsOf, placeOf, type WrappedKey } from './key-store.js';
import type { RootKey } from './root-key.js';
import { StableKeys } from './stable-keys.js';

/** Any constant will do, as long as no other program in the same database takes it. */
const ROOT_KEY_LOCK = '7266004';
const BATCH = 1_000;

/** What a change of the root key did. */
export interface RootKeyChange {
  /** Keys of organizations that the new root key wraps from now on. */
  readonly rewrapped: number;
  /** Keys that the old root key does not unwrap: they are left as they were. */
  readonly unreadable: number;
}

type RootWrappedKey = RowFrom<typeof lockKeysUnderRoot>;

/**
 * Wraps the keys of all organizations and the stable keys with another root key and replaces the check value. Values and keys
 * of projects stay as they are.
 *
 * @param query in a transaction, which the caller commits: all of it takes effect, or nothing
 * @returns null when the database has the new root key already
 * @throws SEALED_VALUE_INVALID when the database has neither root key, or its stable keys were changed
 */
export async function changeRootKey(query: Query, from: RootKey, to: RootKey): Promise<RootKeyChange | null> {
  await query(LOCK, [ROOT_KEY_LOCK]);
  const [row] = await lockInstallation(query, {});
  if (row === undefined) throw new AppError('SEALED_VALUE_INVALID');
  if (isCheckValueOf(to, row.checkValue)) return null;
  if (!isCheckValueOf(from, row.checkValue) || row.keptKeysSealed === null) throw new AppError('SEALED_VALUE_INVALID');
  if (to.ciphertext() !== null && row.nextWrapped !== null && row.nextWrapped !== to.ciphertext())
    throw new ConfigurationError([
      'another node has made another NEXT_ROOT_KEY meanwhile. Nothing was changed; try again',
    ]);
  const stable = StableKeys.open(from, row.keptKeysSealed);
  const change = await rewrapKeys(query, from, to);
  await replaceRootKey(query, {
    checkValue: to.checkValue(),
    keptKeysSealed: stable.seal(to),
    wrapped: to.ciphertext(),
  });
  return change;
}

/** Stores the same root key as it is encrypted outside now. @throws ConfigurationError when it has changed meanwhile */
export async function replaceCiphertext(query: Query, former: string, fresh: string): Promise<void> {
  const stored = await replaceWrappedRootKey(query, { former, fresh });
  if (stored.length === 0)
    throw new ConfigurationError(['the root key was changed meanwhile. Nothing was changed; try again']);
}

/**
 * Forgets the root key that the installation was about to change to, where that is one that is encrypted outside. Nodes that have it keep
 * it until they end.
 *
 * @returns whether there was one
 */
export async function cancelChange(query: Query): Promise<boolean> {
  const cancelled = await deleteNextRootKey(query, {});
  return cancelled.length > 0;
}

async function rewrapKeys(query: Query, from: RootKey, to: RootKey): Promise<RootKeyChange> {
  let rewrapped = 0;
  let unreadable = 0;
  for (let after: string | undefined = NO_ID; after !== undefined; ) {
    const keys: RootWrappedKey[] = await lockKeysUnderRoot(query, { after, limit: BATCH });
    const changed = keys.flatMap((key) => rewrap(key, from, to) ?? []);
    await storeWrapped(query, { parentKeyId: null, ...columnsOf(changed), areDestroyed: false });
    rewrapped += changed.length;
    unreadable += keys.length - changed.length;
    after = keys.length < BATCH ? undefined : keys.at(-1)?.id;
  }
  return { rewrapped, unreadable };
}

/** The same key, wrapped by the new root key; null when the old one does not unwrap it. */
function rewrap(
  { id, organizationId, wrappedKeySealed }: RootWrappedKey,
  from: RootKey,
  to: RootKey,
): WrappedKey | null {
  const place = placeOf(id, { organizationId, projectId: null });
  let key: Buffer;
  try {
    key = from.unwrap(wrappedKeySealed, place);
  } catch (error) {
    if (error instanceof AppError && error.code === 'SEALED_VALUE_INVALID') return null;
    throw error;
  }
  try {
    return { id, wrappedKeySealed: to.wrap(key, place) };
  } finally {
    key.fill(0);
  }
}
