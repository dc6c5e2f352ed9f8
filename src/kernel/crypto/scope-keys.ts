import { createHmac, type KeyObject } from 'node:crypto';
import { AppError } from '../errors.js';
import type { KeyScope, StoredKey } from './key-store.js';
import { cipherDigests, type DataKey } from './seal.js';
import { type DigestKeys, digestKeysIn, digestKeysOf } from './wrapping.js';

/** Seals that this node may make with a key, and the moment (`performance.now()`) after which it asks again. */
interface Reservation {
  readonly seals: number;
  readonly until: number;
}

/** One version of a key, opened. */
export interface KeyVersion extends DataKey {
  readonly createdAt: number;
  readonly isRetired: boolean;
  readonly reserved: Reservation;
}

const NOTHING_RESERVED: Reservation = { seals: 0, until: 0 };

/**
 * The opened keys of one scope, shared by all requests of this node. Only grows: a version is dropped only when it was destroyed, and
 * never un-retired, so that an answer of the database that is overtaken by a newer one does no harm.
 */
export class ScopeKeys {
  readonly #versions = new Map<string, KeyVersion>();
  #first: Age | null = null;
  #digestKeys: DigestKeys | null = null;
  readonly #destroyed = new Set<string>();
  /** A record named a key that is not among these: another node may have added it. */
  isStale = false;

  constructor(readonly scope: KeyScope) {}

  /** Takes in stored versions. One that does not unwrap is passed over: what it sealed stays closed, the rest opens. */
  absorb(rows: readonly StoredKey[], unwrap: (row: StoredKey) => KeyObject): void {
    // The first key of all decides on those of digests, and the database may name it after others.
    for (const row of rows.toSorted(inOrder)) {
      if (this.#first === null || inOrder(row, this.#first) < 0) this.#first = row;
      if (row.isDestroyed) this.#forget(row, unwrap);
      if (this.#destroyed.has(row.id)) continue;
      const known = this.#versions.get(row.id);
      const key = known?.key ?? unwrapped(row, unwrap);
      if (key === null) continue;
      const isRetired = row.isRetired || known?.isRetired === true;
      const reserved = isRetired ? NOTHING_RESERVED : (known?.reserved ?? NOTHING_RESERVED);
      this.#versions.set(row.id, { id: row.id, key, createdAt: row.createdAt, isRetired, reserved });
    }
    this.isStale = rows.length === 0;
  }

  #forget(row: StoredKey, unwrap: (row: StoredKey) => KeyObject): void {
    this.#versions.delete(row.id);
    this.#destroyed.add(row.id);
    if (row.id !== this.#first?.id || this.#digestKeys !== null) return;
    const left = unwrapped(row, unwrap);
    if (left !== null) this.#digestKeys = digestKeysIn(left);
  }

  /**
   * True when the database has to be asked again.
   *
   * @param renewed keys that were retired or destroyed recently, by ID, and whether they were destroyed
   */
  isBehind(renewed: ReadonlyMap<string, boolean>): boolean {
    if (this.isStale) return true;
    if (renewed.size === 0) return false;
    return [...this.#versions.values()].some(
      ({ id, isRetired }) => renewed.get(id) === true || (!isRetired && renewed.has(id)),
    );
  }

  find(keyId: string): KeyVersion | undefined {
    return this.#versions.get(keyId);
  }

  /** The version that seals: the newest one not retired. @throws SEALED_VALUE_INVALID when there is none */
  current(): KeyVersion {
    const newest = [...this.#versions.values()].sort(inOrder).findLast(({ isRetired }) => !isRetired);
    if (newest === undefined) throw new AppError('SEALED_VALUE_INVALID');
    return newest;
  }

  /** Adds seals that the database has counted. Those of an older block are void once their time is over. */
  grant(keyId: string, seals: number, until: number): void {
    const version = this.#versions.get(keyId);
    if (version === undefined || version.isRetired) return;
    const left = version.reserved.until > performance.now() ? version.reserved.seals : 0;
    this.#versions.set(keyId, { ...version, reserved: { seals: left + seals, until } });
  }

  /** Takes seals out of what is reserved; false when there are not enough. */
  take(keyId: string, seals: number): boolean {
    const version = this.#versions.get(keyId);
    if (version === undefined || version.reserved.seals < seals) return false;
    if (version.reserved.until <= performance.now()) return false;
    const reserved = { ...version.reserved, seals: version.reserved.seals - seals };
    this.#versions.set(keyId, { ...version, reserved });
    return true;
  }

  /** HMAC-SHA-256 under a key of this scope. @throws SEALED_VALUE_INVALID when its first key does not open */
  digest(text: string): Buffer {
    return createHmac('sha256', this.#keysOfDigests().digest).update(text, 'utf8').digest();
  }

  /** Encrypts or decrypts digests of 32 bytes with a key of this scope. @throws SEALED_VALUE_INVALID when its first key does not open */
  cipherDigests(digests: Uint8Array, direction: 'encrypt' | 'decrypt'): Buffer {
    return cipherDigests(this.#keysOfDigests().blinding, digests, direction);
  }

  /** Of the first version, also when it was destroyed: digests must be the same after the key has been succeeded. */
  #keysOfDigests(): DigestKeys {
    const first = this.#versions.get(this.#first?.id ?? '');
    if (this.#digestKeys === null && first === undefined) throw new AppError('SEALED_VALUE_INVALID');
    this.#digestKeys ??= digestKeysOf((first as KeyVersion).key);
    return this.#digestKeys;
  }
}

interface Age {
  readonly id: string;
  readonly createdAt: number;
}

const inOrder = (a: Age, b: Age): number => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1);

function unwrapped(row: StoredKey, unwrap: (row: StoredKey) => KeyObject): KeyObject | null {
  try {
    return unwrap(row);
  } catch (error) {
    if (error instanceof AppError && error.code === 'SEALED_VALUE_INVALID') return null;
    throw error;
  }
}
