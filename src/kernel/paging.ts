import * as z from 'zod';
import { AppError } from './errors.js';
import { mapYielding, nextTurn } from './event-loop.js';
import { parse } from './validation.js';
import { integer } from './value-rules.js';

/** Longer than any cursor that is given out: the longest names a path of 2,000 characters and two keys, and is sealed. */
export const MAX_CURSOR = 6_000;

const rows = integer(1, 1_000);
const cursor = z.string().max(MAX_CURSOR);

/** Rules of the arguments of every list: Relay's forward paging. */
export const pageRules = {
  first: rows
    .nullish()
    .meta({ description: 'Maximum number of items to return, 1 to 1,000. If omitted, all items are returned.' }),
  after: cursor
    .nullish()
    .meta({ description: 'Return items after this cursor: `pageInfo.endCursor` of the page before.' }),
};

/** Rules of the arguments of lists that always have pages, because their length has no bound. */
export const boundedPageRules = {
  first: rows.default(100).meta({ description: 'Maximum number of items to return, 1 to 1,000.' }),
  after: cursor.nullish().meta({
    description: 'Return items after this cursor: `pageInfo.endCursor` of the page before, with the same arguments.',
  }),
};

/** Of a page whose request does not say. */
export const PAGE_SIZE = 100;

/** The same for lists that can also be read from their end. */
export const twoWayPageRules = {
  ...boundedPageRules,
  first: rows.nullish().meta({
    description:
      'Maximum number of items to return, 1 to 1,000. If neither this nor `last` is given, 100 items are returned.',
  }),
  last: rows.nullish().meta({
    description:
      'Maximum number of items to return from the end of the list, or before `before`, 1 to 1,000. If given, `first` is ignored.',
  }),
  before: cursor.nullish().meta({
    description: 'Return items before this cursor: `pageInfo.startCursor` of the page after, with the same arguments.',
  }),
};

/** Rules by which REST paths skip rows. Clients of GraphQL go on from a cursor. */
export const FOR_REST_ALONE = z.registry();

/** Rules of what is shown of the items of a list, and not of which it has: a cursor is good with any value of theirs. */
export const DISPLAY_RULES = z.registry();

const PAGE = z.strictObject(pageRules);

/** What `pageRules` leaves of the arguments. */
export interface PageRequest {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
}

/** Position of a page in its list. */
export interface PageInfo {
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  /** Cursor of the first row; null for an empty page. */
  readonly startCursor: string | null;
  /** Cursor of the last row. */
  readonly endCursor: string | null;
}

/** What a connection type has, whatever its rows are. */
export interface ConnectionOf<T> {
  readonly nodes: readonly T[];
  readonly edges: readonly { cursor: string; node: T }[];
  readonly pageInfo: PageInfo;
}

/** What knows how many rows its list has in all. */
export interface Counted {
  /** Called only when the document asks for it. */
  readonly totalCount: () => Promise<number>;
}

/** What the connection type of such a list has. */
export interface CountedConnectionOf<T> extends ConnectionOf<T>, Counted {}

/** A page with the total count of its list, which counts what the caller can see. */
export const counted = <C extends object>(page: C, totalCount: () => Promise<number>): C & Counted =>
  Object.assign(page, { totalCount });

/** What the connection type of a `SearchPage` has. */
export interface SearchConnectionOf<T> extends ConnectionOf<T> {
  readonly isScanLimitReached: boolean;
}

/** The position of a row: the columns that the list is ordered by, the last one unique. */
export type CursorKey = readonly string[];

const encodeCursor = (key: CursorKey): string => Buffer.from(JSON.stringify(key)).toString('base64url');
const textOf = (cursor: string): string => Buffer.from(cursor, 'base64url').toString('utf8');

/**
 * Reads a cursor. Its key is one that the list wrote: `bindCursors` lets no other through.
 *
 * @param parts how many columns the list is ordered by
 * @param open what gives the text of a cursor that is written otherwise; it may throw
 * @throws VALIDATION_FAILED for a text that is no cursor of such a list
 */
export function decodeCursor(cursor: string, parts: number, open = textOf): CursorKey {
  try {
    const key: unknown = JSON.parse(open(cursor));
    if (isCursorKey(key, parts)) return key;
  } catch {
    // The same fault as a cursor of another list.
  }
  throw cursorRefused('after');
}

/** The error for a text that is no cursor of the list. @param path of the argument */
export const cursorRefused = (path: string): AppError =>
  new AppError('VALIDATION_FAILED', undefined, {
    details: [{ path, code: 'INVALID_CURSOR', message: 'must be a cursor from this list' }],
  });

const isCursorKey = (key: unknown, parts: number): key is CursorKey =>
  Array.isArray(key) && key.length === parts && key.every((part) => typeof part === 'string');

/** How many rows to read: one more than requested, so that the page knows whether more follow. Null: all. */
export const rowLimit = ({ first }: PageRequest): number | null => (first == null ? null : first + 1);

/** Bounds of a page of a list by one column that is unique in it. */
export interface KeyBounds {
  /** The key that the page begins after; null: at the top. */
  readonly after: string | null;
  readonly limit: number | null;
}

/** The bounds of a page. @throws VALIDATION_FAILED for a text that is no cursor of such a list */
export function keyPageBounds(request: PageRequest): KeyBounds {
  const [after = null] = request.after == null ? [] : decodeCursor(request.after, 1);
  return { after, limit: rowLimit(request) };
}

/** Bounds of a page of a list by name, then id. */
export interface NameBounds {
  /** The name and the id of the row that the page begins after; null: at the top. */
  readonly name: string | null;
  readonly id: string | null;
  readonly limit: number | null;
}

/** The bounds of a page. @throws VALIDATION_FAILED for a text that is no cursor of such a list */
export function namePageBounds(request: PageRequest): NameBounds {
  const [name = null, id = null] = request.after == null ? [] : decodeCursor(request.after, 2);
  return { name, id, limit: rowLimit(request) };
}

/** Bounds of a page of a list by a time, newest first, then id. */
export interface TimeBounds {
  /** The time and the id of the row that the page begins after; null: at the top. */
  readonly time: string | null;
  readonly id: string | null;
  readonly limit: number | null;
}

/** The bounds of a page. @throws VALIDATION_FAILED for a text that is no cursor of such a list */
export function timePageBounds(request: PageRequest): TimeBounds {
  const [time = null, id = null] = request.after == null ? [] : decodeCursor(request.after, 2);
  return { time, id, limit: rowLimit(request) };
}

/** Position of a row in such a list. */
export const timeCursorKey = (time: Date, id: string): CursorKey => [time.toISOString(), id];

/** Position of a row in a list by whole numbers from 0, padded so that cursors sort as texts. */
export const positionKey = ({ position }: { readonly position: number }): CursorKey => [
  String(position).padStart(10, '0'),
];

/** A page of rows, shaped as a Relay connection. Edges and page info are made only when they are asked for. */
export class Page<T> {
  readonly hasNextPage: boolean;
  readonly nodes: readonly T[];

  /**
   * @param rows in order; one more than `first` when there are more
   * @param keyOf the columns that the list is ordered by
   */
  constructor(
    rows: readonly T[],
    protected readonly request: PageRequest,
    private readonly keyOf: (row: T) => CursorKey,
  ) {
    const { first } = request;
    this.hasNextPage = first != null && rows.length > first;
    this.nodes = this.hasNextPage ? rows.slice(0, first as number) : rows;
  }

  /** How positions are written. Plain text will do where all rows before a cursor were shown. */
  protected cursorOf(key: CursorKey): string {
    return encodeCursor(key);
  }

  get edges(): { cursor: string; node: T }[] {
    return this.nodes.map((node) => ({ cursor: this.cursorOf(this.keyOf(node)), node }));
  }

  get pageInfo(): PageInfo {
    const [start, end] = [this.nodes[0], this.nodes.at(-1)];
    return {
      hasNextPage: this.hasNextPage,
      hasPreviousPage: this.request.after != null,
      startCursor: start === undefined ? null : this.cursorOf(this.keyOf(start)),
      endCursor: end === undefined ? null : this.cursorOf(this.keyOf(end)),
    };
  }

  /** The same page, whose rows and edges are executed in slices where they are many. */
  paced(): ConnectionOf<T> {
    return new PacedPage(this);
  }

  /** As `map`, and lets other requests run between the rows. */
  async mapYielding<U>(change: (row: T) => U, keyOf: (row: U) => CursorKey): Promise<Page<U>> {
    const page = new Page<U>([], this.request, keyOf);
    return Object.assign(page, { nodes: await mapYielding(this.nodes, change), hasNextPage: this.hasNextPage });
  }

  /**
   * As `map`, with the cursors that the rows have: for lists in an order that need not show in what is made of them. The list still
   * knows how many rows it has.
   */
  show<U extends object>(this: Page<T> & Counted, change: (row: T) => U): Page<U> & Counted;
  show<U extends object>(change: (row: T) => U): Page<U>;
  show<U extends object>(this: Page<T> & Partial<Counted>, change: (row: T) => U): Page<U> {
    const rows = new Map(this.nodes.map((row) => [change(row), row]));
    const page = new Page<U>([], this.request, (shown) => this.keyOf(rows.get(shown) as T));
    const { hasNextPage, totalCount } = this;
    return Object.assign(page, { nodes: [...rows.keys()], hasNextPage, ...(totalCount && { totalCount }) });
  }

  /** The same page with other rows: entities to API types. */
  map<U>(change: (row: T) => U, keyOf: (row: U) => CursorKey): Page<U> {
    const page = new Page<U>([], this.request, keyOf);
    return Object.assign(page, { nodes: this.nodes.map(change), hasNextPage: this.hasNextPage });
  }
}

/** A class and not an object with getters: V8 gives each of those a shape of its own, and keeps the page by it. */
class PacedPage<T> implements ConnectionOf<T> {
  readonly nodes: readonly T[];
  readonly #page: Page<T>;

  constructor(page: Page<T>) {
    this.#page = page;
    this.nodes = yieldingList(page.nodes);
  }

  get edges(): readonly { cursor: string; node: T }[] {
    return yieldingList(this.#page.edges);
  }

  get pageInfo(): PageInfo {
    return this.#page.pageInfo;
  }
}

/**
 * A page of a list that was read as a whole, because it belongs to a larger answer: all lists of that share one statement.
 *
 * @param raw `{ first?, after? }` as the caller gave it
 * @param parts how many columns the list is ordered by, by code points
 * @throws VALIDATION_FAILED, also for a text that is no cursor of such a list
 */
export function pageOf<T>(
  rows: readonly T[],
  raw: unknown,
  parts: number,
  keyOf: (row: T) => CursorKey,
): Page<T> & Counted {
  const request = parse(PAGE, raw);
  const { first, after } = request;
  const start = after == null ? null : decodeCursor(after, parts);
  const rest = start === null ? rows : rows.filter((row) => inOrder(keyOf(row), start) > 0);
  const page = new Page(first == null ? rest : rest.slice(0, first + 1), request, keyOf);
  return counted(page, async () => rows.length);
}

/** As Postgres orders texts in the collation "C". */
export function inOrder(one: CursorKey, other: CursorKey): number {
  for (const [at, part] of one.entries()) {
    const order = Buffer.compare(Buffer.from(part), Buffer.from(other[at] ?? ''));
    if (order !== 0) return order;
  }
  return 0;
}

/** What a search for the rows of a page left. */
interface SearchOutcome {
  /** Where it ended before the page was full and before all was seen; null when neither is so. */
  readonly stoppedAt: CursorKey | null;
  /** The rows are nearest to `before` first, and the request is `{ first: last, after: before }`. */
  readonly isBackward?: boolean;
  /** Writes cursors that do not tell what stands there: the search may have ended at a row that is hidden. */
  readonly cursors: { write(key: CursorKey): string };
}

/** A page whose rows were looked for among others, as far as one request may look. */
export class SearchPage<T> extends Page<T> {
  constructor(
    rows: readonly T[],
    request: PageRequest,
    keyOf: (row: T) => CursorKey,
    private readonly search: SearchOutcome,
  ) {
    super(rows, request, keyOf);
    if (search.isBackward) Object.assign(this, { nodes: this.nodes.toReversed() });
  }

  get isScanLimitReached(): boolean {
    return this.search.stoppedAt !== null;
  }

  protected override cursorOf(key: CursorKey): string {
    return this.search.cursors.write(key);
  }

  override get pageInfo(): PageInfo {
    const { stoppedAt, isBackward = false } = this.search;
    const info = super.pageInfo;
    if (isBackward)
      return {
        ...info,
        hasNextPage: info.hasPreviousPage,
        hasPreviousPage: this.hasNextPage || stoppedAt !== null,
        ...(stoppedAt === null ? {} : { startCursor: this.cursorOf(stoppedAt) }),
      };
    return stoppedAt === null ? info : { ...info, hasNextPage: true, endCursor: this.cursorOf(stoppedAt) };
  }

  /** As `Page.map`, but for rows of which there is nothing to show any more: they are left out. */
  override map<U>(change: (row: T) => U | null, keyOf: (row: U) => CursorKey): SearchPage<U> {
    const page = new SearchPage<U>([], this.request, keyOf, this.search);
    const nodes = this.nodes.map(change).filter((node) => node !== null);
    return Object.assign(page, { nodes, hasNextPage: this.hasNextPage });
  }
}

/** Shorter lists are executed at once: it takes a few milliseconds. */
const AT_ONCE = 500;

/**
 * A list whose items are executed some at a time, and other requests run between them. GraphQL executes a plain list in one go, and
 * waits for items that are promises.
 */
export function yieldingList<T>(items: readonly T[]): readonly T[] {
  if (items.length <= 2 * AT_ONCE) return items;
  const list: (T | Promise<T>)[] = items.slice(0, AT_ONCE);
  let turn: Promise<void> = Promise.resolve();
  for (let at = AT_ONCE; at < items.length; at += AT_ONCE) {
    turn = turn.then(nextTurn);
    const { length } = list;
    const due = turn;
    for (const item of items.slice(length, length + AT_ONCE)) list.push(due.then(() => item));
  }
  return list as T[];
}
