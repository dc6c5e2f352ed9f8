import type { KeyObject } from 'node:crypto';
import type { DataKey, PlaceInScope } from './seal.js';
import type { SealedText } from './sealed-text.js';

/** No value stays longer than twice this, however often it is asked for. */
const GENERATION_MS = 150_000;
/** Of longer ones the opening is the smaller part of the work. */
const LONGEST_RECORD_BYTES = 8 * 1024;
/** What an entry takes beside its texts, roughly. */
const OVERHEAD_BYTES = 200;

/** The value of a row, with what it is known by beside its key, its column and the row. */
interface Opened {
  readonly rowVersion: number;
  /** The sealed bytes, as a text in which each is one sign: it takes no memory beside its own. */
  readonly record: string;
  readonly text: SealedText;
}

/** By key, so that values go with theirs, and in it by column, then row: of each the one that was opened last. */
type Generation = WeakMap<KeyObject, Map<string, Map<string, Opened>>>;

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
    const { rowId, rowVersion } = place;
    const column = `${place.table} ${place.column}`;
    const sealed = record.toString('latin1');
    const known = (generation: Generation): SealedText | undefined => {
      const opened = generation.get(key.key)?.get(column)?.get(rowId);
      return opened?.record === sealed && opened.rowVersion === rowVersion ? opened.text : undefined;
    };
    return (
      known(this.#young) ??
      known(this.#old) ??
      this.#keep(key.key, column, rowId, { rowVersion, record: sealed, text: open() })
    );
  }

  /** Drops everything. */
  close(): void {
    clearInterval(this.#aging);
    this.#age();
    this.#age();
  }

  #keep(key: KeyObject, column: string, rowId: string, opened: Opened): SealedText {
    // The text is not longer than its record.
    const bytes = 2 * opened.record.length + rowId.length + OVERHEAD_BYTES;
    if (this.#bytes + bytes > this.maxBytes / 2) this.#age();
    this.#bytes += bytes;
    const columns = this.#young.get(key) ?? new Map<string, Map<string, Opened>>();
    if (columns.size === 0) this.#young.set(key, columns);
    const values = columns.get(column) ?? new Map<string, Opened>();
    if (values.size === 0) columns.set(column, values);
    values.set(rowId, opened);
    return opened.text;
  }

  #age(): void {
    this.#old = this.#young;
    this.#young = new WeakMap();
    this.#bytes = 0;
  }
}
