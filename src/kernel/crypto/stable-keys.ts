import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import { NO_ID } from '../ids.js';
import { deriveKey } from './derive-key.js';
import type { RootKey } from './root-key.js';
import { type DataKey, type SealPlace, toKey } from './seal.js';

const BASE_BYTES = 32;

const Stored = z.object({ base: z.string(), older: z.record(z.string(), z.string()) });

const PLACE: SealPlace = {
  organizationId: NO_ID,
  projectId: null,
  table: 'installation',
  column: 'kept_keys_sealed',
  rowId: NO_ID,
  rowVersion: 1,
};

/**
 * Keys that stay the same when the root key changes: MACs of the audit trail must verify for as long as the trail exists. Each
 * is derived from a random base, which is stored sealed by the root key. None of them decrypts anything that is stored.
 */
export class StableKeys {
  readonly #base: Buffer;
  /** By label, in base64: keys that are not derived from the base, of installations that had them before it. */
  readonly #older: Readonly<Record<string, string>>;

  private constructor(base: Buffer, older: Readonly<Record<string, string>>) {
    this.#base = base;
    this.#older = older;
  }

  /** Those of an empty database. */
  static make(): StableKeys {
    return new StableKeys(randomBytes(BASE_BYTES), {});
  }

  /** @throws SEALED_VALUE_INVALID unless this root key sealed them */
  static open(rootKey: Pick<RootKey, 'unwrap'>, record: Uint8Array): StableKeys {
    const bytes = rootKey.unwrap(record, PLACE);
    try {
      const { base, older } = Stored.parse(JSON.parse(bytes.toString('utf8')));
      return new StableKeys(Buffer.from(base, 'base64'), older);
    } finally {
      bytes.fill(0);
    }
  }

  /** What is stored of them. */
  seal(rootKey: Pick<RootKey, 'wrap'>): Buffer {
    const bytes = Buffer.from(JSON.stringify({ base: this.#base.toString('base64'), older: this.#older }));
    try {
      return rootKey.wrap(bytes, PLACE);
    } finally {
      bytes.fill(0);
    }
  }

  /** A key of 32 bytes for one kind of MAC or signature. */
  macKey(label: string): Buffer {
    const older = this.#older[label];
    return older === undefined ? deriveKey(this.#base, `kept/mac/${label}`, 32) : Buffer.from(older, 'base64');
  }

  /**
   * Seals cursors of one kind for an organization, whose ID it has: the key is never stored, so that it needs no other.
   *
   * @param kind another key for each, by which a cursor of one is none of another
   */
  cursorKey(organizationId: string, kind: string): DataKey {
    return {
      id: organizationId,
      key: toKey(deriveKey(this.#base, `kept/cursor/${organizationId}/${kind}`, 32)),
    };
  }
}
