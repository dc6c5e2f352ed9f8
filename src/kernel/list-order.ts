import { z } from 'zod';
import { isId } from './ids.js';
import { type CursorKey, decodeCursor, isTime, namePageBounds, type PageRequest, rowLimit } from './paging.js';

/** What a list can be ordered by. */
export const ORDER_FIELDS = ['NAME', 'CREATED_AT', 'UPDATED_AT'] as const;
export const DIRECTIONS = ['ASC', 'DESC'] as const;

export const orderField = z.enum(ORDER_FIELDS).meta({ description: 'By what.' });
export const orderDirection = z.enum(DIRECTIONS).default('ASC').meta({ description: 'Up or down; by id where equal.' });

/** The order of a list. */
export const ListOrder = z
  .strictObject({ field: orderField, direction: orderDirection })
  .meta({ description: 'The order of a list.' });
export type ListOrder = z.output<typeof ListOrder>;

/** Rules of the arguments of lists that can be had in several orders. */
export const orderRules = {
  orderBy: ListOrder.nullish().meta({
    description: 'The order; by name, up, when absent. A cursor of one order is refused under another.',
  }),
  updatedSince: z.date().nullish().meta({ description: 'Only what was last changed then or later.' }),
};

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
export const orderOf = ({ orderBy }: OrderedRequest): ListOrder => orderBy ?? BY_NAME;

/** Stands for an order: in cursors, and in what is kept for each. */
export const orderName = ({ field, direction }: ListOrder): string => `${field} ${direction}`;

/** All orders that there are. */
export const LIST_ORDERS: readonly ListOrder[] = ORDER_FIELDS.flatMap((field) =>
  DIRECTIONS.map((direction) => ({ field, direction })),
);

export const isDefault = (order: ListOrder): boolean => orderName(order) === orderName(BY_NAME);

/** The bounds of a page. @throws VALIDATION_FAILED for a text that is no cursor of such a list in this order */
export function orderedPageBounds(request: OrderedRequest): OrderedBounds {
  const order = orderOf(request);
  const since = request.updatedSince ?? null;
  if (isDefault(order)) {
    const { name, id, limit } = namePageBounds(request);
    return { value: name, id, since, limit };
  }
  const fits = ([name, value = '', row = '']: CursorKey): boolean =>
    name === orderName(order) && isId(row) && (order.field === 'NAME' || isTime(value));
  const [, value = null, id = null] = request.after == null ? [] : decodeCursor(request.after, 3, fits);
  return { value, id, since, limit: rowLimit(request) };
}

/** What a row of such a list has. */
export interface Orderable {
  readonly id: string;
  readonly name: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Position of a row: of the usual order as it always was, of the others with the order. */
export function orderedCursorKey(request: OrderedRequest, { id, name, createdAt, updatedAt }: Orderable): CursorKey {
  const order = orderOf(request);
  if (isDefault(order)) return [name, id];
  const values = { NAME: name, CREATED_AT: createdAt.toISOString(), UPDATED_AT: updatedAt.toISOString() };
  return [orderName(order), values[order.field], id];
}
