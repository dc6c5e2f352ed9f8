import { EMPTY_RECORD_BYTES } from '../../../kernel/crypto/seal.js';
import { t } from '../../../kernel/database/statement.js';
import { anyOf, prepared } from '../../../kernel/database/tables.js';
import { isDefault, type ListOrder } from '../../../kernel/list-order.js';
import { MAX_RESPONSE_BYTES } from '../../../kernel/load/load.js';
import { type ListParams, tables } from '../entities/tables.js';
import type { MetadataPair } from './metadata-filter.rules.js';

// Parts of statements that list secrets. First: how many bytes of values a response reads.

/** Where sizes of values are summed: in a window, or over all rows of a list, from its `from` on. */
export type SummedOver = { readonly window: string } | { readonly rows: string };

/** True if a sum of their lengths fits into a response. */
export const fitsIntoResponse = (sum: string): string => `${sum} <= ${MAX_RESPONSE_BYTES}`;

/** The lengths of values, which are known without reading them. */
export const valueLength = (sealed: string): string => `octet_length(${sealed}) - ${EMPTY_RECORD_BYTES}`;

/**
 * The sealed values of secrets `s`, or of personal ones `ps`. Those past the limit of a response are null: their lengths are known
 * without reading them.
 *
 * @param summed absent: there are few
 * @param withOwn personal values are read as well, and count
 */
export function valueColumn(table: 's' | 'ps', summed: SummedOver | undefined, withOwn: boolean): string {
  const value = `${table}.value_sealed`;
  if (summed === undefined) return value;
  const ofOwn = withOwn ? ` + coalesce(${valueLength('ps.value_sealed')}, 0)` : '';
  const sum = `sum(${valueLength('s.value_sealed')}${ofOwn})`;
  // Of a whole list all values or none: a larger list is rejected anyway, and nothing is read for it.
  const total = 'rows' in summed ? `(select ${sum} ${summed.rows})` : `${sum} over ${summed.window}`;
  return `case when ${fitsIntoResponse(total)} then ${value} end`;
}

// Filters.

/** Filters of a list. Both must match. */
export interface SecretFilters {
  /** Any of them. */
  readonly tagSlugs: readonly string[];
  /** All of them, among unencrypted entries. */
  readonly metadata: readonly MetadataPair[];
}

/** The conditions on a secret `s`. */
export const FILTERS = {
  tagSlugs: `exists (select from secret_tag st join tag t on t.id = st.tag_id
      where st.secret_id = s.id and t.slug = any(:tagSlugs::text[]))`,
  // Containment is exact and case-sensitive, and an encrypted entry has no value to match.
  metadata: 's.metadata @> :metadata::text::jsonb',
} as const;

export const FILTER_PARAMS = { tagSlugs: t.array(t.text), metadata: t.nullable(t.text) } as const;

/** The parameters of filters. */
export const filterParams = ({ tagSlugs, metadata }: SecretFilters) => ({
  tagSlugs,
  metadata: metadata.length === 0 ? null : JSON.stringify(metadata),
});

// Orders, and where a page begins.

/** Order of rows: path, then key; or a time of the shared secret, then its ID. */
const TERMS = {
  NAME: [
    ['f.path collate "C"', 'text'],
    ['s.key collate "C"', 'text'],
  ],
  CREATED_AT: [
    ['s.created_at', 'timestamptz'],
    ['s.id', 'uuid'],
  ],
  UPDATED_AT: [
    ['s.updated_at', 'timestamptz'],
    ['s.id', 'uuid'],
  ],
} as const;

/** @param isOneFolder its path is the same for all rows */
const termsOf = ({ field }: ListOrder, isOneFolder = false) =>
  field === 'NAME' && isOneFolder ? TERMS.NAME.slice(1) : TERMS[field];

const columnsOf = (order: ListOrder, isOneFolder = false): string[] =>
  termsOf(order, isOneFolder).map(([column]) => column);

const orderedBy = (columns: readonly string[], { direction }: ListOrder): string =>
  `order by ${columns.map((column) => `${column} ${direction}`).join(', ')}`;

/** An order in SQL, of secrets `s` in folders `f`. */
export const orderInFolders = (order: ListOrder): string => orderedBy(columnsOf(order), order);

/** The same within one environment or folder. With many, folders of one path are not mixed, and no two rows are equal in it. */
export function orderWithinFolder(order: ListOrder, isOneFolder: boolean): string {
  const [first = '', second] = columnsOf(order, isOneFolder);
  if (second === undefined) return orderedBy([first], order);
  return orderedBy(order.field === 'NAME' ? [first, 's.folder_id', second] : [first, second], order);
}

/** Condition of the row of a cursor, which may have a second entry, and of those after it. @param values parameters */
export function isFromCursor(order: ListOrder, isOneFolder: boolean, values: readonly string[]): string {
  const terms = termsOf(order, isOneFolder);
  const given = values.slice(-terms.length).map((value, at) => `${value}::text::${terms[at]?.[1]}`);
  return `(${terms.map(([column]) => column).join(', ')}) ${order.direction === 'ASC' ? '>=' : '<='} (${given.join(', ')})`;
}

/**
 * The same in each of many folders, by path and key: as a condition on the key alone, which the index of a folder has. Nothing is
 * after a row in folders whose path is before its own.
 */
export function isFromCursorInFolders(order: ListOrder, [path = '', key = '']: readonly string[]): string {
  if (!isDefault(order)) return isFromCursor(order, false, [path, key]);
  return `s.key >= case when f.path = ${path}::text then ${key}::text when f.path > ${path}::text then '' end`;
}

/**
 * The first rows of each environment that match the conditions. As an array, which is built once: for a recently filled
 * folder the planner expects one row, and would rank all of them again for each.
 */
export const firstOfEnvironments = (order: ListOrder, conditions: readonly string[], limit: string): string =>
  `s.id = any(array(select id from (
     select s.id, row_number() over (partition by s.environment_id ${orderInFolders(order)}) as place
     from secret s join folder f on f.id = s.folder_id join environment e on e.id = f.environment_id
     where ${conditions.join(' and ')}) ranked where place <= ${limit}))`;

/**
 * The same of each folder, from its index as far as they are wanted.
 *
 * @param folders condition of their rows `f` @param conditions on secrets `s` in them
 */
export const firstOfFolders = (
  order: ListOrder,
  folders: string,
  conditions: readonly string[],
  limit: string,
): string =>
  `s.id = any(array(select first.id from (select f.id, f.path from folder f where ${folders} offset 0) f cross join lateral (
     select s.id from secret s where ${['s.folder_id = f.id', ...conditions].join(' and ')}
     ${orderedBy(columnsOf(order, true), order)} limit ${limit}) first))`;

/**
 * Condition of what was last changed since a point in time, or has a personal value that was.
 *
 * @param since @param user parameters; null for callers that are not users
 */
export const changedSince = (since: string, user: string): string =>
  `(s.updated_at >= ${since}::timestamptz or exists (select from personal_secret po
     where po.secret_id = s.id and po.user_id = ${user}::uuid and po.updated_at >= ${since}::timestamptz))`;

/** What a row is ordered by. */
interface Ordered {
  readonly path: string;
  readonly key: string;
  readonly id: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A row in an order, as `isFromCursor` compares it. */
export function valuesOf(
  { field }: ListOrder,
  { path, key, id, createdAt, updatedAt }: Ordered,
): readonly [string, string] {
  if (field === 'NAME') return [path, key];
  return [(field === 'CREATED_AT' ? createdAt : updatedAt).toISOString(), id];
}

/** Position of an entry in a list: its row, and which of the entries of the row. */
export type Position = readonly [first: string, second: string, kind: string];

// Which folders a scan looks at.

/** The scope of a scan. Other rows are hidden by their location: the scan neither counts them nor stops at them. */
export interface ScanBounds {
  /** Projects with all their folders. */
  readonly projectIds: readonly string[];
  /** In other projects, the folders that may hold what the caller may see. */
  readonly folderIds: readonly string[];
}

/** All folders of projects, as rules see them. */
export const listFolderLocations = prepared(({ projectIds }: ListParams<'projectIds'>) =>
  tables
    .selectFrom('folder as f')
    .innerJoin('environment as e', 'e.id', 'f.environment_id')
    .select(['f.id', 'f.project_id as projectId', 'e.slug as environment', 'f.path'])
    .where('f.project_id', '=', anyOf(projectIds)),
);

/** Up to this number of folders it is cheaper to read everything in them than to skip the rest. */
const FEW_FOLDERS = 1_000;

// Not `= any`, which scans the whole list for each row once the statement is planned for any list.
const IN_FOLDER = 's.folder_id in (select unnest(:boundFolderIds::uuid[]))';

/** True for a secret `s` within bounds. */
const WITHIN = {
  none: 'true',
  projects: `(s.project_id = any(:boundProjectIds::uuid[]) or ${IN_FOLDER})`,
  few: IN_FOLDER,
  // As a plain condition the planner makes a join of it, and sorts everything in the folders for each page.
  many: `coalesce(${IN_FOLDER}, false)`,
} as const;
type Within = keyof typeof WITHIN;

/** For variants of statements that scan: `${isWithinBounds(bounds)}` with these options and parameters. */
export const BOUNDS_OPTION: readonly Within[] = ['none', 'projects', 'few', 'many'];
export const BOUNDS_PARAMS = { boundProjectIds: t.array(t.uuid), boundFolderIds: t.array(t.uuid) } as const;
export const isWithinBounds = (bounds: Within): string => WITHIN[bounds];

/** What to choose for bounds, and the parameters. */
export function boundsOf(bounds: ScanBounds | null) {
  const { projectIds = [], folderIds = [] } = bounds ?? {};
  const size = folderIds.length > FEW_FOLDERS ? 'many' : 'few';
  const choice: Within = bounds === null ? 'none' : projectIds.length > 0 ? 'projects' : size;
  return { choice, params: { boundProjectIds: projectIds, boundFolderIds: folderIds } };
}
