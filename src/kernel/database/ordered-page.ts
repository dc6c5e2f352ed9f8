import { type SelectQueryBuilder, sql } from 'kysely';
import { LIST_ORDERS, type ListOrder, type OrderedBounds, orderName } from '../list-order.js';
import type { Connected } from './database.js';
import type { Statement } from './statement.js';

/** Columns that a list is ordered by. */
interface OrderColumns {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** An order in SQL. The direction is that of the id as well: one comparison of rows finds where a page begins. */
function termsOf({ name, createdAt, updatedAt }: OrderColumns, { field, direction }: ListOrder) {
  const key = { NAME: `${name} collate "C"`, CREATED_AT: createdAt, UPDATED_AT: updatedAt }[field];
  return { key, type: field === 'NAME' ? 'text' : 'timestamptz', after: direction === 'ASC' ? '>' : '<', direction };
}

/** Whether a page is the first of its list, or comes after a row: a condition for both would not be one of an index. */
interface PageShape {
  readonly order: ListOrder;
  readonly isAfter: boolean;
}

/**
 * Condition, order and limit of a page in SQL, for statements that are text.
 *
 * @param params the parameters with the bounds: `{ value: '$2', ... }`
 */
export function orderedText(
  columns: OrderColumns,
  { order, isAfter }: PageShape,
  { value, id, since, limit }: Readonly<Record<keyof OrderedBounds, string>>,
): { readonly condition: string; readonly rest: string } {
  const { key, type, after, direction } = termsOf(columns, order);
  return {
    condition: `${isAfter ? `(${key}, ${columns.id}) ${after} (${value}::text::${type}, ${id}::uuid)` : `coalesce(${value}::text, ${id}::uuid::text) is null`}
      and (${since}::timestamptz is null or ${columns.updatedAt} >= ${since})`,
    rest: `order by ${key} ${direction}, ${columns.id} ${direction} limit ${limit}`,
  };
}

/** The rows of a page in some order: `.$call(pageInOrder(COLUMNS, shape, page))`. */
export const pageInOrder =
  (columns: OrderColumns, { order, isAfter }: PageShape, { value, id, since, limit }: OrderedBounds) =>
  <O>(query: SelectQueryBuilder<never, never, O>): SelectQueryBuilder<never, never, O> => {
    const terms = termsOf(columns, order);
    const [key, row, type] = [sql.raw(terms.key), sql.raw(columns.id), sql.raw(terms.type)];
    const start = sql`(${value}::text::${type}, ${id}::uuid)`;
    return query
      .$if(isAfter, (rest) => rest.where(sql<boolean>`(${key}, ${row}) ${sql.raw(terms.after)} ${start}`))
      .where(sql<boolean>`(${since}::timestamptz is null or ${sql.raw(columns.updatedAt)} >= ${since}::timestamptz)`)
      .orderBy(sql`${key} ${sql.raw(terms.direction)}`)
      .orderBy(sql`${row} ${sql.raw(terms.direction)}`)
      .limit(limit);
  };

/** A list in any order, which chooses among statements that are prepared: `inOrders((shape) => prepared((page) => ...))`. */
export function inOrders<Params extends Pick<OrderedBounds, 'value'>, Row>(
  make: (shape: PageShape) => Statement<Params, Row>,
): (ctx: Connected, order: ListOrder, params: Params) => Promise<Row[]> {
  const shapes = LIST_ORDERS.flatMap((order) => [true, false].map((isAfter) => ({ order, isAfter })));
  const statements = new Map(shapes.map((shape) => [nameOf(shape), make(shape)]));
  return (ctx, order, params) => {
    const name = nameOf({ order, isAfter: params.value !== null });
    return (statements.get(name) as Statement<Params, Row>)(ctx, params);
  };
}

const nameOf = ({ order, isAfter }: PageShape): string => `${orderName(order)} ${isAfter}`;
