import * as z from 'zod';
import { type CursorKey, decodeCursor, inOrder, Page, type PageRequest, pageRules, rowLimit } from './paging.js';
import { parse } from './validation.js';

/** What a list can be ordered by. */
const ORDER_FIELDS = ['NAME', 'CREATED_AT', 'UPDATED_AT'] as const;
const DIRECTIONS = ['ASC', 'DESC'] as const;

export const orderField = z.enum(ORDER_FIELDS).meta({ description: 'Field to sort by.' });
export const orderDirection = z
  .enum(DIRECTIONS)
  .default('ASC')
  .meta({ description: 'Sort direction. Items with equal values are sorted by ID.' });

/** Sort order of a list. */
export const ListOrder = z
  .strictObject({ field: orderField, direction: orderDirection })
  .meta({ description: 'Sort order of a list.' });
export type ListOrder = z.output<typeof ListOrder>;

/** Only rows that changed since a time. The count of the list is that of all. */
export const changedSinceRules = {
  updatedSince: z
    .date()
    .nullish()
    .meta({ description: 'Return only items changed at or after this time. `totalCount` still counts all items.' }),
};

/** Rules of the arguments of lists that can be had in several orders. @param usual the order of the list when none is asked for */
export const orderRulesOf = (usual: string) => ({
  orderBy: ListOrder.nullish().meta({
    description: `Sort order. Default: ${usual}. A cursor is valid only with the sort order of the page it came from.`,
  }),
  ...changedSinceRules,
});

/** The same of lists by name. */
export const orderRules = orderRulesOf('by name, ascending');

const ORDERED_PAGE = z.strictObject({ ...pageRules, ...orderRules });

/** What `orderRules` and `pageRules` leave of the arguments. */
export interface OrderedRequest extends PageRequest {
  readonly orderBy?: ListOrder | null | undefined;
  readonly updatedSince?: Date | null | undefined;
}

/** Bounds of a page of a list in some order, then by id. */
export interface OrderedBounds {
  /** Name or time, and id, of the row that the page begins after; null: at the top. */
  readonly value: string | null;
  readonly id: string | null;
  readonly since: Date | null;
  readonly limit: number | null;
}

/** The order of a list that is asked for without one. */
export const BY_NAME: ListOrder = { field: 'NAME', direction: 'ASC' };

/** The order that is asked for. */
export const requestedOrder = ({ orderBy }: OrderedRequest): ListOrder => orderBy ?? BY_NAME;

/** The name of an order, in cursors and in maps with an entry for each order. */
export const orderName = ({ field, direction }: ListOrder): string => `${field} ${direction}`;

/** All orders that there are. */
export const LIST_ORDERS: readonly ListOrder[] = ORDER_FIELDS.flatMap((field) =>
  DIRECTIONS.map((direction) => ({ field, direction })),
);

export const isDefault = (order: ListOrder): boolean => orderName(order) === orderName(BY_NAME);

/** The bounds of a page. @throws VALIDATION_FAILED for a text that is no cursor of such a list in this order */
export function orderedPageBounds(request: OrderedRequest): OrderedBounds {
  const [value = null, id = null] = request.after == null ? [] : decodeCursor(request.after, 2);
  return { value, id, since: request.updatedSince ?? null, limit: rowLimit(request) };
}

/** What a row of such a list has. */
export interface Orderable {
  readonly id: string;
  readonly name: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** What rows are compared by, as the database does. Times are of one length, and so sort as texts. */
function valueIn({ field }: ListOrder, { name, createdAt, updatedAt }: Orderable): string {
  if (field === 'NAME') return name;
  return (field === 'CREATED_AT' ? createdAt : updatedAt).toISOString();
}

/** Position of a row in the order that is asked for. */
export const orderedCursorKey = (request: OrderedRequest, row: Orderable): CursorKey => [
  valueIn(requestedOrder(request), row),
  row.id,
];

/** A list that was read as a whole. */
interface WholeList<T> {
  /** What a row is ordered by. */
  readonly orderable: (row: T) => Orderable;
  /** Makes a page in the order that the list has by itself; absent: that is by name. */
  readonly own?: (rows: readonly T[], request: PageRequest) => Page<T>;
}

/**
 * A page, in the order that is asked for, of a list that was read as a whole: because it belongs to a larger response, because
 * rules can leave out some rows, or because some are not in the database.
 *
 * @param raw `{ first?, after?, orderBy?, updatedSince? }` as the caller gave it
 * @throws VALIDATION_FAILED, also for a text that is no cursor of such a list in this order
 */
export function orderedPageOf<T>(rows: readonly T[], raw: unknown, { orderable, own }: WholeList<T>): Page<T> {
  const request = parse(ORDERED_PAGE, raw);
  const { first, after, orderBy, updatedSince: since } = request;
  const changed = since == null ? rows : rows.filter((row) => orderable(row).updatedAt >= since);
  if (own !== undefined && orderBy == null) return own(changed, { first, after });
  const order = requestedOrder(request);
  const { value, id } = orderedPageBounds(request);
  const compared = order.direction === 'ASC' ? inOrder : (one: CursorKey, other: CursorKey) => inOrder(other, one);
  const keyed = changed.map((row) => ({ row, key: [valueIn(order, orderable(row)), orderable(row).id] }));
  const rest =
    value === null || id === null ? keyed : keyed.filter(({ key }) => compared(key, [value, id.toLowerCase()]) > 0);
  const sorted = rest.toSorted((one, other) => compared(one.key, other.key)).map(({ row }) => row);
  const shown = first == null ? sorted : sorted.slice(0, first + 1);
  return new Page(shown, request, (row) => orderedCursorKey(request, orderable(row)));
}
