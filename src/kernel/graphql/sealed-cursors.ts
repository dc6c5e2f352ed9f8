import { createHash } from 'node:crypto';
import type { Context } from '../context.js';
import { type DataKey, openValue, type SealPlace, sealValue } from '../crypto/seal.js';
import { type CursorKey, decodeCursor } from '../paging.js';

/** Texts are filled up to a multiple of this, so that the length of a cursor does not tell the length of a name. */
const BLOCK_BYTES = 128;

/**
 * Writes and reads the cursors of lists that may stop at rows which the caller must not know of. They tell nothing of their
 * position, nobody but the service can make one, and each is good for the question only that it was an answer to: with
 * another one, a hidden position could be held against rows that the caller writes where it may.
 *
 * Nothing is stored: every node knows them, now and after the next start.
 */
export class SealedCursors {
  readonly #key: DataKey;
  readonly #place: SealPlace;
  readonly #written = new Map<string, string>();

  /**
   * @param list name of the list
   * @param question what decides which rows the list has, in one order of its fields; null is as good as absent
   */
  constructor(
    { keyring, organizationId }: Pick<Context, 'keyring' | 'organizationId'>,
    list: string,
    question: object,
  ) {
    this.#key = keyring.cursorKey(organizationId, `${list}/${digestOf(question)}`);
    this.#place = {
      organizationId,
      projectId: null,
      table: 'cursor',
      column: list,
      rowId: organizationId,
      rowVersion: 1,
    };
  }

  /** The cursor of a position: one text in one reply, another in the next. */
  write(position: CursorKey): string {
    const text = JSON.stringify(position);
    const known = this.#written.get(text);
    if (known !== undefined) return known;
    const cursor = sealValue(this.#key, this.#place, filled(text)).toString('base64url');
    this.#written.set(text, cursor);
    return cursor;
  }

  /**
   * The position that a cursor was made of.
   *
   * @param after null: from the top
   * @param parts how many columns the list is ordered by
   * @throws VALIDATION_FAILED for a text that is no cursor of this list and question
   */
  read(after: string | null | undefined, parts: number): CursorKey | null {
    return after == null ? null : decodeCursor(after, parts, (cursor) => this.#open(cursor));
  }

  /** @throws SEALED_VALUE_INVALID */
  #open(cursor: string): string {
    const record = Buffer.from(cursor, 'base64url');
    // Node skips what is no base64url, and bits that are left over: of all such spellings only ours is the cursor.
    if (record.toString('base64url') !== cursor) throw new Error('the cursor is malformed');
    return openValue(this.#key, this.#place, record);
  }
}

const digestOf = (question: object): string =>
  createHash('sha256')
    .update(JSON.stringify(question, (_name, value: unknown) => value ?? undefined))
    .digest('base64url');

/** With blanks, which JSON does not mind. */
const filled = (text: string): string => {
  const bytes = Buffer.byteLength(text);
  return text + ' '.repeat(Math.ceil(bytes / BLOCK_BYTES) * BLOCK_BYTES - bytes);
};
