import type { CursorKey } from '../../kernel/paging.js';
import { mapInSlices } from '../../kernel/slices.js';

/**
 * Rows that one request looks at one by one, where rules look at single ones, however few of them are shown.
 *
 * Where a scan stops depends on the rows that it looks at, hidden ones too, and its caller could find out which they are by
 * writing rows of its own among them. So the statements that are read from leave out what rules hide by environment and path:
 * see `ScanBounds`. Only what rules hide by name or by tag is hidden here, row by row.
 */
export const SCAN_LIMIT = 10_000;

/** What a scan found: one row more than wanted when there are more. */
export interface Scanned<T> {
  readonly rows: readonly T[];
  /** The last row looked at, when the limit came before the page was full and before the end; null otherwise. */
  readonly stoppedAt: CursorKey | null;
}

/** How to read rows and what of them to keep. */
export interface RowSource<Row, Seen> {
  /** Rows after a position, in order. */
  readonly read: (after: CursorKey | null, limit: number) => Promise<readonly Row[]>;
  /** What the caller sees of a row; null when that is nothing. */
  readonly see: (row: Row) => Seen | null;
  readonly keyOf: (row: Row) => CursorKey;
}

/**
 * Fills a page with rows of which the caller may see only some: reads few at first, and if that does not do, as many as one
 * request may look at. Two statements at most.
 *
 * @param options `after`: position to start from; `isOpen`: the caller sees every row, so that a page needs no more than it shows
 */
export async function scanRows<Row, Seen>(
  { first, after, isOpen }: { first: number; after: CursorKey | null; isOpen: boolean },
  { read, see, keyOf }: RowSource<Row, Seen>,
): Promise<Scanned<Seen>> {
  const wanted = first + 1;
  const few = isOpen ? wanted : Math.min(Math.max(wanted * 4, 200), SCAN_LIMIT / 2);
  const seen = async (rows: readonly Row[]): Promise<Seen[]> =>
    (await mapInSlices(rows, see)).filter((row) => row !== null);
  const head = await read(after, few);
  const found = await seen(head);
  if (found.length >= wanted || head.length < few) return { rows: found.slice(0, wanted), stoppedAt: null };
  const more = SCAN_LIMIT - few;
  const tail = await read(keyOf(head.at(-1) as Row), more);
  found.push(...(await seen(tail)));
  if (found.length >= wanted || tail.length < more) return { rows: found.slice(0, wanted), stoppedAt: null };
  return { rows: found, stoppedAt: keyOf(tail.at(-1) as Row) };
}
