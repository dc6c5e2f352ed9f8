import { ConfigurationFault } from '../configuration-fault.js';
import type { Query } from '../database/database.js';
import { AppError } from '../errors.js';
import { isOf } from './installation.js';
import { KeptKeys } from './kept-keys.js';
import { placeOf } from './key-store.js';
import type { RootKey } from './root-key.js';

/** Any constant will do, as long as no other program in the same database takes it. */
const ROOT_KEY_LOCK = 7_266_004;
const BATCH = 1_000;

/** What a change of the root key did. */
export interface RootKeyChange {
  /** Keys of organizations that the new root key wraps from now on. */
  readonly rewrapped: number;
  /** Keys that the old root key does not unwrap: they are left as they were. */
  readonly unreadable: number;
}

interface WrappedKey {
  readonly id: string;
  readonly organizationId: string;
  readonly sealed: Buffer;
}

/**
 * Wraps the keys of all organizations and the kept keys with another root key and replaces the check value. Values and keys
 * of projects stay as they are.
 *
 * @param query in a transaction, which the caller commits: all of it takes effect, or nothing
 * @returns null when the database has the new root key already
 * @throws SEALED_VALUE_INVALID when the database has neither root key, or its kept keys were changed
 */
export async function changeRootKey(query: Query, from: RootKey, to: RootKey): Promise<RootKeyChange | null> {
  await query('select pg_advisory_xact_lock($1)', [ROOT_KEY_LOCK]);
  // Held until the commit: whoever adds a key wrapped by the old root key has added it before, or waits and adds none.
  const [row] = await query<{ checkValue: Buffer; kept: Buffer | null; nextWrapped: string | null }>(
    `select key_check_value as "checkValue", kept_keys_sealed as kept, next_wrapped_root_key as "nextWrapped" from installation for update`,
  );
  if (row === undefined) throw new AppError('SEALED_VALUE_INVALID');
  if (isOf(to, row.checkValue)) return null;
  if (!isOf(from, row.checkValue) || row.kept === null) throw new AppError('SEALED_VALUE_INVALID');
  if (to.ciphertext() !== null && row.nextWrapped !== null && row.nextWrapped !== to.ciphertext())
    throw new ConfigurationFault([
      'another node has made another NEXT_ROOT_KEY meanwhile. Nothing was changed; try again',
    ]);
  const kept = KeptKeys.open(from, row.kept);
  const change = await rewrapKeys(query, from, to);
  await query(
    'update installation set key_check_value = $1, kept_keys_sealed = $2, wrapped_root_key = $3, next_wrapped_root_key = null',
    [to.checkValue(), kept.seal(to), to.ciphertext()],
  );
  return change;
}

/** Stores the same root key as it is encrypted outside now. @throws ConfigurationFault when it has changed meanwhile */
export async function replaceCiphertext(query: Query, former: string, fresh: string): Promise<void> {
  const stored = await query('update installation set wrapped_root_key = $2 where wrapped_root_key = $1 returning id', [
    former,
    fresh,
  ]);
  if (stored.length === 0)
    throw new ConfigurationFault(['the root key was changed meanwhile. Nothing was changed; try again']);
}

/**
 * Forgets the root key that the installation was about to change to, where that is one that is encrypted outside. Nodes that have it keep
 * it until they end.
 *
 * @returns whether there was one
 */
export async function cancelChange(query: Query): Promise<boolean> {
  const cancelled = await query(
    'update installation set next_wrapped_root_key = null where next_wrapped_root_key is not null returning id',
  );
  return cancelled.length > 0;
}

async function rewrapKeys(query: Query, from: RootKey, to: RootKey): Promise<RootKeyChange> {
  let rewrapped = 0;
  let unreadable = 0;
  for (let after: string | undefined = ''; after !== undefined; ) {
    const keys: WrappedKey[] = await query<WrappedKey>(
      `select id, organization_id as "organizationId", wrapped_key_sealed as sealed from data_key
       where parent_key_id is null and id::text > $1 order by id::text limit ${BATCH} for update`,
      [after],
    );
    const changed = keys.flatMap((key) => rewrap(key, from, to) ?? []);
    await query(
      `update data_key set wrapped_key_sealed = given.sealed
       from unnest($1::uuid[], $2::bytea[]) as given (id, sealed) where data_key.id = given.id`,
      [changed.map(({ id }) => id), changed.map(({ sealed }) => sealed)],
    );
    rewrapped += changed.length;
    unreadable += keys.length - changed.length;
    after = keys.length < BATCH ? undefined : keys.at(-1)?.id;
  }
  return { rewrapped, unreadable };
}

/** The same key, wrapped by the new root key; null when the old one does not unwrap it. */
function rewrap(
  { id, organizationId, sealed }: WrappedKey,
  from: RootKey,
  to: RootKey,
): Omit<WrappedKey, 'organizationId'> | null {
  const place = placeOf(id, { organizationId, projectId: null });
  let key: Buffer;
  try {
    key = from.unwrap(sealed, place);
  } catch (error) {
    if (error instanceof AppError && error.code === 'SEALED_VALUE_INVALID') return null;
    throw error;
  }
  try {
    return { id, sealed: to.wrap(key, place) };
  } finally {
    key.fill(0);
  }
}
