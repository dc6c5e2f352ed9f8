import { type CursorKey, decodeCursor, type PageRequest, rowLimit } from '../../kernel/paging.js';
import type { ListedRecord, OwnRecord, SecretFilters } from './secret.records.js';
import { type OwnValues, SECRET_KINDS, type SecretKind } from './secret.rules.js';
import type { SecretView, SecretViewer } from './secret.view.js';

/** One line of a list: a shared secret, or the caller's own value in its place. */
export interface Entry {
  readonly record: ListedRecord;
  readonly own: OwnRecord | null;
}

/** What narrows a list, as statements have it. */
export const filtersOf = ({
  tagSlugs,
  metadata,
}: {
  tagSlugs?: readonly string[] | null | undefined;
  metadata?: SecretFilters['metadata'] | null | undefined;
}): SecretFilters => ({ tagSlugs: tagSlugs ?? [], metadata: metadata ?? [] });

/** What rows make, in their order, from the row after the cursor on, or its second entry. */
export function entriesAfter(after: Position | null, rows: readonly ListedRecord[], ownValues: OwnValues): Entry[] {
  const entries = rows.flatMap((record): Entry[] => {
    const own = ownValues === 'none' || record.personal === undefined ? [] : [{ record, own: record.personal }];
    return own.length > 0 && ownValues === 'instead' ? own : [{ record, own: null }, ...own];
  });
  if (after === null) return entries;
  const [path, key, kind] = after;
  return entries.filter(
    ({ record, own }) => record.path !== path || record.key !== key || (kind === 'shared' && own !== null),
  );
}

/** A line as the caller sees it. */
export const viewEntry = (viewer: SecretViewer, { record, own }: Entry): SecretView =>
  own === null ? viewer.view(record) : viewer.personalView(record, own);

/** Position of a line. */
export type Position = readonly [path: string, key: string, kind: SecretKind];

/** Position of a line in a list. */
export const cursorOf = ({ record, own }: Entry): CursorKey => [
  record.path,
  record.key,
  own === null ? 'shared' : 'personal',
];

/** After which line a list goes on. @throws VALIDATION_FAILED for a text that is no cursor of such a list */
export function positionOf(after: string | null | undefined): Position | null {
  if (after == null) return null;
  const isPosition = ([, , kind = '']: CursorKey): boolean => (SECRET_KINDS as readonly string[]).includes(kind);
  return decodeCursor(after, 3, isPosition) as unknown as Position;
}

/** One row more than the page has, and one for the row of the cursor, which may be done with. */
export const rowsFor = (input: PageRequest): number | null => {
  const limit = rowLimit(input);
  return limit === null || input.after == null ? limit : limit + 1;
};
