import type { Context } from '../../../kernel/context.js';
import { EMPTY_RECORD_BYTES } from '../../../kernel/crypto/seal.js';
import { AppError } from '../../../kernel/errors.js';
import { mapYielding } from '../../../kernel/event-loop.js';
import type { ReadSize } from '../../../kernel/load/load.js';
import type { Visibility } from '../scope/visibility.rules.js';
import type { ListedRecord } from './find-secrets.js';
import type { Entry } from './secret-pages.js';

/** A page of at most this many rows is not a heavy read. */
const LIGHT_ROWS = 100;

/**
 * How many rows a page reads. Where rules depend on single secrets, the rows of a page are known only after reading all that follow:
 * even a short page is a heavy read.
 *
 * @param limit of the page; null: all
 */
export const rowsReadFor = <L extends number | null | undefined>({ isPerSecret }: Visibility, limit: L): L | null =>
  isPerSecret ? null : limit;

/**
 * Waits for the turn of a heavy read.
 *
 * @param most it reads at most so many rows; null: all
 * @throws OVERLOADED
 */
export async function acquireReadSlot(
  ctx: Context,
  most: number | null | undefined,
  heaviness: ReadSize,
): Promise<void> {
  if (most != null && most <= LIGHT_ROWS) return;
  await ctx.load?.turn(ctx.actor.tokenId ?? ctx.actor.id, heaviness);
}

/** Ends the turn early, if there turned out to be few rows. */
export function releaseSlotOfFewRows(ctx: Context, most: number | null | undefined, rows: number): void {
  const hasTurn = most == null || most > LIGHT_ROWS;
  if (hasTurn && rows <= LIGHT_ROWS) ctx.load?.endTurn();
}

/** The sealed columns of a row. A value is undefined if values were not read, and null past the limit of a response. */
interface SealedRow {
  readonly valueSealed?: Buffer | null | undefined;
  readonly commentSealed?: Buffer | null | undefined;
  readonly metadataSealed?: Buffer | null;
}

/**
 * Reserves the size of rows in the response, before anything of them is decrypted.
 *
 * @param readsValue whether the response will contain the value of a row
 * @throws ANSWER_TOO_LARGE, OVERLOADED
 */
export const reserveRows = <R extends SealedRow>(
  ctx: Context,
  rows: readonly R[],
  readsValue: (row: R) => boolean,
): Promise<void> => reserve(ctx, rows, (row) => sizeOf(ctx, row, row.valueSealed !== undefined && readsValue(row)));

/** The same for entries of a list. The caller may read its personal values. */
export const reserveEntries = (
  ctx: Context,
  entries: readonly Entry[],
  readsValue: (record: ListedRecord) => boolean,
): Promise<void> =>
  reserve(ctx, entries, ({ record, own }) => sizeOf(ctx, own ?? record, own !== null || readsValue(record)));

async function reserve<T>(ctx: Context, items: readonly T[], sizeOfItem: (item: T) => number): Promise<void> {
  const sizes = await mapYielding(items, sizeOfItem);
  ctx.load?.add(sizes.reduce((sum, size) => sum + size, 0));
}

/** @throws ANSWER_TOO_LARGE */
function sizeOf(ctx: Context, row: SealedRow, isRead: boolean): number {
  const besides = (row.commentSealed?.length ?? 0) + (row.metadataSealed?.length ?? 0);
  if (row.valueSealed === undefined || !isRead) return besides;
  if (row.valueSealed === null) throw ctx.load?.tooLarge() ?? new AppError('ANSWER_TOO_LARGE');
  return besides + row.valueSealed.length - EMPTY_RECORD_BYTES;
}
