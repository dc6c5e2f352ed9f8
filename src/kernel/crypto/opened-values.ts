import type { KeyObject } from 'node:crypto';
import type { DataKey, PlaceInScope } from './seal.js';
import type { SealedText } from './sealed-text.js';

/** No value stays longer than twice this, however often it is asked for. */
const GENERATION_MS = 150_000;
/** Of longer ones the opening is the smaller part of the work. */
const LONGEST_RECORD_BYTES = 8 * 1024;
/** What an entry takes beside its texts, roughly. */
const OVERHEAD_BYTES = 200;

/** By key, so that values go with theirs, and in it by their place and their sealed bytes. */
type Generation = WeakMap<KeyObject, Map<string, SealedText>>;

/**
 * Values that were opened a short while ago: lists that are not alike show many of the same. A value is found under its place and all of its
 * sealed bytes, so that what somebody changed in the database does not open here either.
 *
 * Holds plaintext, bounded in bytes and age. There are two generations; the older one goes when the younger one is full or aged.
 */
export class OpenedValues {
  #young: Generation = new WeakMap();
  #old: Generation = new WeakMap();
  #bytes = 0;
  readonly #aging: NodeJS.Timeout | undefined;

  /** @param maxBytes 0: nothing is kept */
  constructor(private readonly maxBytes: number) {
    if (maxBytes > 0) this.#aging = setInterval(() => this.#age(), GENERATION_MS).unref();
  }

  /** The value of a record. @param open opens it where it is not known */
  find(key: DataKey, place: PlaceInScope, record: Buffer, open: () => SealedText): SealedText {
    if (this.maxBytes === 0 || record.length > LONGEST_RECORD_BYTES) return open();
    const name = `${place.table} ${place.column} ${place.rowId} ${place.rowVersion} ${record.toString('latin1')}`;
    return (
      this.#young.get(key.key)?.get(name) ?? this.#old.get(key.key)?.get(name) ?? this.#keep(key.key, name, open())
    );
  }

  /** Drops everything. */
  close(): void {
    clearInterval(this.#aging);
    this.#age();
    this.#age();
  }

  #keep(key: KeyObject, name: string, text: SealedText): SealedText {
    // The text is not longer than its record, which is a part of the name.
    const bytes = 2 * name.length + OVERHEAD_BYTES;
    if (this.#bytes + bytes > this.maxBytes / 2) this.#age();
    this.#bytes += bytes;
    const values = this.#young.get(key) ?? new Map<string, SealedText>();
    if (values.size === 0) this.#young.set(key, values);
    values.set(name, text);
    return text;
  }

  #age(): void {
    this.#old = this.#young;
    this.#young = new WeakMap();
    this.#bytes = 0;
  }
}
