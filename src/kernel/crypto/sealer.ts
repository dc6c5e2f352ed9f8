import { AppError } from '../errors.js';
import type { OpenedValues } from './opened-values.js';
import type { ScopeKeys } from './scope-keys.js';
import { type DataKey, isSealedWith, keyIdOf, openValue, type PlaceInScope, sealValue } from './seal.js';
import { SealedText } from './sealed-text.js';

const MAX_SEALS_AT_ONCE = 1_000_000;

/** Seals and opens the values of one organization or project, for one request. Made by `Keyring.sealer`. */
export class Sealer {
  #claimed: { readonly key: DataKey; seals: number } | null = null;
  /** The key of the value opened last: most likely that of the next. */
  #lastOpened: DataKey | null = null;

  /**
   * @param opened where `openOften` finds what was opened before
   * @param claim counts seals with the current key and answers that key
   * @param onUnreadable called for each value that cannot be decrypted
   * @param isDisabled the key is disabled: every method throws KEY_DISABLED
   */
  constructor(
    private readonly keys: ScopeKeys,
    private readonly opened: OpenedValues,
    private readonly claim: (seals: number) => Promise<DataKey>,
    private readonly onUnreadable: () => void,
    private readonly isDisabled = false,
  ) {}

  #refuseDisabled(): void {
    if (this.isDisabled) throw new AppError('KEY_DISABLED');
  }

  /**
   * Counts seals that are about to be made. A statement is sent for each block of a thousand only.
   *
   * @param seals how many calls of `seal` follow, at most 1,000,000
   * @throws SEALED_VALUE_INVALID when the scope has no key
   */
  async reserve(seals: number): Promise<void> {
    this.#refuseDisabled();
    if (!Number.isInteger(seals) || seals < 0 || seals > MAX_SEALS_AT_ONCE)
      throw new Error('the number of seals is not an integer, or too large');
    if (seals === 0) return;
    const key = await this.claim(seals);
    // Another key than before: the rest of the reservation is made again for the new key, so that every reserved seal is available.
    const left = this.#claimed?.seals ?? 0;
    if (left > 0 && this.#claimed?.key.id !== key.id) {
      this.#claimed = { key, seals };
      return this.reserve(left);
    }
    this.#claimed = { key, seals: seals + left };
  }

  /**
   * Seals one value. Needs `reserve` before.
   *
   * @throws VALIDATION_FAILED for a text with unpaired surrogates
   */
  seal(place: PlaceInScope, plaintext: SealedText): Buffer {
    const claimed = this.#claimed;
    if (claimed === null || claimed.seals < 1) throw new Error('a value was sealed without Sealer.reserve');
    claimed.seals -= 1;
    return sealValue(claimed.key, { ...place, ...this.keys.scope }, plaintext.reveal());
  }

  /** Opens one value. @throws SEALED_VALUE_INVALID; when the key may be newer than this node's, the next sealer has it */
  open(place: PlaceInScope, record: Uint8Array): SealedText {
    return this.#opening(record, (key) => this.#openWith(key, place, record));
  }

  /** As `open`, for what many requests show: it stays open for a short while. */
  openOften(place: PlaceInScope, record: Buffer): SealedText {
    return this.#opening(record, (key) =>
      this.opened.find(key, place, record, () => this.#openWith(key, place, record)),
    );
  }

  #openWith(key: DataKey, place: PlaceInScope, record: Uint8Array): SealedText {
    return new SealedText(openValue(key, { ...place, ...this.keys.scope }, record));
  }

  #opening(record: Uint8Array, open: (key: DataKey) => SealedText): SealedText {
    this.#refuseDisabled();
    try {
      const last = this.#lastOpened;
      return open(last !== null && isSealedWith(record, last) ? last : this.#keyOf(record));
    } catch (error) {
      this.onUnreadable();
      throw error;
    }
  }

  #keyOf(record: Uint8Array): DataKey {
    const keyId = keyIdOf(record);
    const key = keyId === null ? undefined : this.keys.find(keyId);
    if (key === undefined) {
      if (keyId !== null) this.keys.isStale = true;
      throw new AppError('SEALED_VALUE_INVALID');
    }
    this.#lastOpened = key;
    return key;
  }

  /** Keyed digest to search for equal values: the same for the same text in one scope, and nowhere else. */
  digest(text: string): Buffer {
    this.#refuseDisabled();
    return this.keys.digest(text);
  }

  /** Encrypts a digest of another scope, so that equal digests are equal within this scope only. Takes many as one. */
  blind(digests: Uint8Array): Buffer {
    this.#refuseDisabled();
    return this.keys.cipherDigests(digests, 'encrypt');
  }

  /** The digests that `blind` was given. */
  unblind(digests: Uint8Array): Buffer {
    this.#refuseDisabled();
    return this.keys.cipherDigests(digests, 'decrypt');
  }
}
