import { BY_NAME } from '../../../kernel/list-order.js';
import { type CursorKey, decodeCursor, type PageRequest, rowLimit } from '../../../kernel/paging.js';
import { type Position, type SecretFilters, valuesOf } from '../scope/list-conditions.sql.js';
import type { ListedRecord, OwnRecord } from './find-secrets.js';
import type { OwnValues } from './secret.rules.js';
import type { SecretView, SecretViewer } from './secret.view.js';

/** An entry of a list: a shared secret, or the caller's personal value of it. */
export interface Entry {
  readonly record: ListedRecord;
  readonly own: OwnRecord | null;
}

/** The filters of a list, in terms of statements. */
export const filtersOf = ({
  tagSlugs,
  metadata,
}: {
  tagSlugs?: readonly string[] | null | undefined;
  metadata?: SecretFilters['metadata'] | null | undefined;
}): SecretFilters => ({ tagSlugs: tagSlugs ?? [], metadata: metadata ?? [] });

/** The entries of rows, in order, from the row after the cursor on, or its second entry. */
export function entriesAfter(
  after: Position | null,
  rows: readonly ListedRecord[],
  ownValues: OwnValues,
  order = BY_NAME,
): Entry[] {
  const entries: Entry[] = [];
  for (const record of rows) {
    const own = ownValues === 'none' ? undefined : record.personal;
    if (own === undefined || ownValues !== 'instead') entries.push({ record, own: null });
    if (own !== undefined) entries.push({ record, own });
  }
  if (after === null) return entries;
  const [first, second, kind] = after;
  return entries.filter(({ record, own }) => {
    const [one, other] = valuesOf(order, record);
    return one !== first || other !== second || (kind === 'shared' && own !== null);
  });
}

/** How many entries a list has, by its numbers of rows; absent: it has none. */
export function numberOfEntries(
  counts: { readonly count: number; readonly ownCount: number } | undefined,
  ownValues: OwnValues,
): number {
  const { count, ownCount } = counts ?? { count: 0, ownCount: 0 };
  return ownValues === 'beside' ? count + ownCount : count;
}

/** An entry as the caller sees it. */
export const viewEntry = (viewer: SecretViewer, { record, own }: Entry): SecretView =>
  own === null ? viewer.view(record) : viewer.personalView(record, own);

/** Position of an entry in a list. */
export const cursorOf = ({ record, own }: Entry, order = BY_NAME): CursorKey => [
  ...valuesOf(order, record),
  own === null ? 'shared' : 'personal',
];

/** The entry after which a list continues. @throws VALIDATION_FAILED for an invalid cursor of such a list */
export const positionOf = (after: string | null | undefined): Position | null =>
  after == null ? null : (decodeCursor(after, 3) as unknown as Position);

/** One row more than the page, and one for the row of the cursor, which may have no more entries. */
export const rowLimitOf = (input: PageRequest): number | null => {
  const limit = rowLimit(input);
  return limit === null || input.after == null ? limit : limit + 1;
};
