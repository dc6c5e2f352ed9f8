import { ConfigurationError } from '../configuration-error.js';
import { deriveKey } from './derive-key.js';
import { type DataKey, isSealedWith, openBytes, type SealPlace, sealBytes, toKey, uuidText } from './seal.js';

/** Length of a root key. */
export const ROOT_KEY_BYTES = 32;

/**
 * The key above all keys. Never used as it is: each purpose has a key derived from it.
 */
export class RootKey {
  readonly #bytes: Buffer;
  readonly #wrapping: DataKey;
  readonly #ciphertext: string | null;

  /**
   * @param bytes 32 bytes; a copy is kept, so the caller may clear them
   * @param ciphertext as a provider outside encrypted it, for the database; `null`: it is configured itself
   */
  constructor(bytes: Uint8Array, ciphertext: string | null = null) {
    if (bytes.length !== ROOT_KEY_BYTES) throw new Error('a root key has 32 bytes');
    this.#bytes = Buffer.from(bytes);
    this.#ciphertext = ciphertext;
    this.#wrapping = { id: uuidText(this.#derive('wrapping-id', 16)), key: toKey(this.#derive('wrapping', 32)) };
  }

  /** As a provider outside encrypted it; `null`: it is configured itself. */
  ciphertext(): string | null {
    return this.#ciphertext;
  }

  /** 16 bytes that tell this root key from others and say nothing of it. Kept in the database. */
  checkValue(): Buffer {
    return this.#derive('check-value', 16);
  }

  /** Seals a key for its place. */
  wrap(key: Buffer, place: SealPlace): Buffer {
    return sealBytes(this.#wrapping, place, key);
  }

  /** @throws SEALED_VALUE_INVALID unless this root key wrapped it for this place */
  unwrap(record: Uint8Array, place: SealPlace): Buffer {
    return openBytes(this.#wrapping, place, record);
  }

  /** True when this root key wrapped the record. */
  hasWrapped(record: Uint8Array): boolean {
    return isSealedWith(record, this.#wrapping);
  }

  #derive(label: string, bytes: number): Buffer {
    return deriveKey(this.#bytes, `root/${label}`, bytes);
  }
}

/**
 * @param text base64 of 32 bytes
 * @param variable that has it
 * @throws ConfigurationError for anything else, a second spelling of the same bytes too
 */
export function parseRootKey(text: string, variable = 'ROOT_KEY'): RootKey {
  const bytes = Buffer.from(text, 'base64');
  try {
    // Node decodes whatever looks like base64 and skips the rest; only what it would write itself is accepted.
    if (bytes.length !== ROOT_KEY_BYTES || bytes.toString('base64') !== text)
      throw new ConfigurationError([`${variable} must be 32 bytes in base64`]);
    return new RootKey(bytes);
  } finally {
    bytes.fill(0);
  }
}
