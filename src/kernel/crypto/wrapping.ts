import { type KeyObject, randomBytes } from 'node:crypto';
import type { Query } from '../database/database.js';
import { AppError } from '../errors.js';
import { newId } from '../ids.js';
import { lockKeysToRewrap } from './data-key.sql.js';
import { deriveKey } from './derive-key.js';
import { type KeyScope, placeOf, reserveSeals, type StoredKey, storeRewrapped, type WrappedKey } from './key-store.js';
import type { RootKeys } from './root-keys.js';
import { type DataKey, openBytes, type SealPlace, sealBytes, toKey } from './seal.js';

const KEY_BYTES = 32;
const BATCH = 1_000;

/** A new key for a scope, wrapped. */
export function makeKey(scope: KeyScope, wrap: (key: Buffer, place: SealPlace) => Buffer, id = newId()): WrappedKey {
  const key = randomBytes(KEY_BYTES);
  try {
    return { id, wrappedKeySealed: wrap(key, placeOf(id, scope)) };
  } finally {
    key.fill(0);
  }
}

/** The bytes of a stored key, which the caller clears. @throws SEALED_VALUE_INVALID */
function unwrapBytes(rootKeys: RootKeys, row: StoredKey, scope: KeyScope): Buffer {
  const place = placeOf(row.id, scope);
  if (row.parentKeyId === null) return rootKeys.unwrap(row.wrappedKeySealed, place);
  if (row.parentWrappedKeySealed === null) throw new AppError('SEALED_VALUE_INVALID');
  const organization = { organizationId: scope.organizationId, projectId: null };
  const parent = rootKeys.unwrap(row.parentWrappedKeySealed, placeOf(row.parentKeyId, organization));
  return openBytes({ id: row.parentKeyId, key: toKey(parent) }, place, row.wrappedKeySealed);
}

/**
 * A stored key, opened. Of one that was destroyed: the keys of its digests.
 *
 * @throws SEALED_VALUE_INVALID also when its length is not that of such a key
 */
export function unwrapKey(rootKeys: RootKeys, row: StoredKey, scope: KeyScope): KeyObject {
  const key = toKey(unwrapBytes(rootKeys, row, scope));
  if (key.symmetricKeySize !== (row.isDestroyed ? 2 * KEY_BYTES : KEY_BYTES))
    throw new AppError('SEALED_VALUE_INVALID');
  return key;
}

/** The keys of the digests of a scope, derived from its first key. They open nothing, and stay when that key is destroyed. */
export interface DigestKeys {
  /** Key objects, as of a `DataKey`: with bytes, each digest would take seven times as long. */
  readonly digest: KeyObject;
  readonly blinding: KeyObject;
}

/** Their bytes, one after the other. */
function digestBytesOf(key: KeyObject | Buffer): Buffer {
  const parts = ['digest', 'blinded-digest'].map((label) => deriveKey(key, label, KEY_BYTES));
  try {
    return Buffer.concat(parts);
  } finally {
    for (const part of parts) part.fill(0);
  }
}

/** Derives them from a key that is there. */
export const digestKeysOf = (key: KeyObject): DigestKeys => digestKeysAmong(digestBytesOf(key));

/** Those that are left of a key that was destroyed. */
export const digestKeysIn = (left: KeyObject): DigestKeys => digestKeysAmong(left.export());

function digestKeysAmong(bytes: Buffer): DigestKeys {
  return { digest: toKey(bytes.subarray(0, KEY_BYTES)), blinding: toKey(bytes.subarray(KEY_BYTES)) };
}

/**
 * Wraps keys of projects, retired ones too, with another key.
 *
 * @param scope an organization key that wraps them now, or their project
 * @returns the number of keys that were wrapped anew
 */
export async function rewrapKeys(
  query: Query,
  { rootKeys, scope, parent }: { readonly rootKeys: RootKeys; readonly scope: KeyScope; readonly parent: DataKey },
): Promise<number> {
  const { organizationId, projectId, organizationKeyId } = scope;
  const which = { organizationId, projectId, organizationKeyId: organizationKeyId ?? null, parentKeyId: parent.id };
  for (let count = 0; ; ) {
    const rows = await lockKeysToRewrap(query, { ...which, limit: BATCH });
    if (rows.length === 0) return count;
    if ((await reserveSeals(query, parent.id, rows.length)) === null) throw new AppError('SEALED_VALUE_INVALID');
    const keys = rows.map((row) => {
      const own = { organizationId, projectId: row.projectId };
      const bytes = unwrapBytes(rootKeys, row, own);
      try {
        return { id: row.id, wrappedKeySealed: sealBytes(parent, placeOf(row.id, own), bytes) };
      } finally {
        bytes.fill(0);
      }
    });
    await storeRewrapped(query, parent.id, keys);
    count += keys.length;
  }
}

/** What is stored of a key that is destroyed: the keys of its digests, wrapped in its place. */
export function destroyedKey(
  row: StoredKey,
  { rootKeys, scope, parent }: { readonly rootKeys: RootKeys; readonly scope: KeyScope; readonly parent: DataKey },
): WrappedKey {
  const bytes = unwrapBytes(rootKeys, row, scope);
  const left = digestBytesOf(bytes);
  bytes.fill(0);
  try {
    return { id: row.id, wrappedKeySealed: sealBytes(parent, placeOf(row.id, scope), left) };
  } finally {
    left.fill(0);
  }
}
