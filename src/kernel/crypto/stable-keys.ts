import { createPrivateKey, createPublicKey, type KeyObject, randomBytes, sign, verify } from 'node:crypto';
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

/** What stands before the 32 bytes of an Ed25519 key in DER. Source: RFC 8410. */
const PRIVATE_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');
const PUBLIC_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');
const KEY_BYTES = 32;

/** An Ed25519 key pair. Others verify what it signs with its public key alone. */
export class SigningKey {
  readonly #privateKey: KeyObject;
  /** 32 bytes in base64. */
  readonly publicKey: string;

  /** @param seed 32 bytes, which are cleared */
  constructor(seed: Buffer) {
    const der = Buffer.concat([PRIVATE_PREFIX, seed]);
    this.#privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
    der.fill(0);
    seed.fill(0);
    const spki = createPublicKey(this.#privateKey).export({ format: 'der', type: 'spki' });
    this.publicKey = spki.subarray(PUBLIC_PREFIX.length).toString('base64');
  }

  /** @returns 64 bytes in base64 */
  sign(text: string): string {
    return sign(null, Buffer.from(text), this.#privateKey).toString('base64');
  }
}

/** Whether a text is a public key as it is shown. */
export const isPublicKey = (text: string): boolean => {
  const bytes = Buffer.from(text, 'base64');
  return bytes.length === KEY_BYTES && bytes.toString('base64') === text;
};

/** True when the key pair of a public key signed the text. */
export function isSigned(text: string, signature: string, publicKey: string): boolean {
  if (!isPublicKey(publicKey)) return false;
  const der = Buffer.concat([PUBLIC_PREFIX, Buffer.from(publicKey, 'base64')]);
  const key = createPublicKey({ key: der, format: 'der', type: 'spki' });
  return verify(null, Buffer.from(text), key, Buffer.from(signature, 'base64'));
}
