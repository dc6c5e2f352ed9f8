import { types } from '@mikro-orm/core';
import type { EntitySchemaWithMeta, InferKyselyDB, InferKyselyTable } from '@mikro-orm/postgresql';
import {
  type Compilable,
  type DeleteResult,
  DummyDriver,
  type InsertResult,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type RawBuilder,
  type Selectable,
  type SelectQueryBuilder,
  sql,
  type UpdateResult,
} from 'kysely';
import { once } from '../once.js';
import type { KeyBounds, TimeBounds } from '../paging.js';
import type { Connected, Query } from './database.js';
import { arrayOfHiddenLength } from './plans.sql.js';
import { type SqlType, type Statement, statement, type Types, type ValuesOf } from './statement.js';

/** A row of a table as it is read. */
export type RowOf<Schema extends EntitySchemaWithMeta> = Selectable<InferKyselyTable<Schema>>;

/** Tables and columns as the schemas of their entities state them. */
type Tables<Schema extends EntitySchemaWithMeta> = InferKyselyDB<Schema>;

/** Where `prepared` statements on the tables of `Schema` are made. It has no connection. */
export const tablesOf = <Schema extends EntitySchemaWithMeta>(): Kysely<Tables<Schema>> =>
  new Kysely<Tables<Schema>>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (tables) => new PostgresIntrospector(tables),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });

type SnakeCase<Name extends string> = Name extends `${infer Head}${infer Rest}`
  ? `${Head extends Lowercase<Head> ? Head : `_${Lowercase<Head>}`}${SnakeCase<Rest>}`
  : Name;
/** Not the relations, which are functions. */
type PropertyOf<Schema extends EntitySchemaWithMeta> = {
  [Name in keyof Schema['properties'] & string]: Schema['properties'][Name] extends () => unknown ? never : Name;
}[keyof Schema['properties'] & string];

/** All columns of a table under the names of its properties, but those that are named: `select(columnsOf(TagSchema, 'updatedAt'))`. */
export const columnsOf = <Schema extends EntitySchemaWithMeta, const Omitted extends PropertyOf<Schema> = never>(
  schema: Schema,
  ...omitted: readonly Omitted[]
) =>
  columnNamesExcept(schema, ...omitted).map((name) => `${columnNameOf(name)} as ${name}`) as {
    [Name in Exclude<PropertyOf<Schema>, Omitted>]: `${SnakeCase<Name>} as ${Name}`;
  }[Exclude<PropertyOf<Schema>, Omitted>][];

type ColumnRow<Schema extends EntitySchemaWithMeta> = Selectable<
  InferKyselyTable<Schema, { columnNamingStrategy: 'property' }>
>;
/** What a property states. One of a few texts has no type. */
interface ColumnOptions {
  readonly type?: object;
  readonly columnType?: string;
  readonly nullable?: boolean;
}
/** Types of Postgres by those of MikroORM. Entities state the column of others. */
const SQL_TYPES = new Map<unknown, string>([
  [types.uuid, 'uuid'],
  [types.text, 'text'],
  [types.integer, 'integer'],
  [types.bigint, 'bigint'],
  [types.double, 'double precision'],
  [types.boolean, 'boolean'],
  [types.blob, 'bytea'],
  [types.datetime, 'timestamp with time zone'],
  [types.json, 'jsonb'],
  [types.array, 'text[]'],
]);

/**
 * Columns of an entity for a statement in SQL, under the names of its properties: their text, and the types of their rows.
 *
 * @param alias of its table in the statement
 */
export function sqlColumnsOf<Schema extends EntitySchemaWithMeta, const Name extends PropertyOf<Schema>>(
  schema: Schema,
  alias: string,
  names: readonly Name[],
) {
  const columns = names.map((name) => {
    const { type, columnType, nullable } = schema.meta.properties[name] as ColumnOptions;
    const sqlType = columnType ?? SQL_TYPES.get(typeof type === 'object' ? type.constructor : (type ?? types.text));
    if (sqlType === undefined) throw new Error(`the type of ${schema.meta.className}.${name} in SQL is not known`);
    return {
      name,
      text: `${alias}.${columnNameOf(name)} as "${name}"`,
      type: { name: sqlType, isNullable: nullable === true },
    };
  });
  return {
    text: columns.map(({ text }) => text).join(', '),
    row: Object.fromEntries(columns.map(({ name, type }) => [name, type])) as {
      readonly [N in Name]: SqlType<ColumnRow<Schema>[N & keyof ColumnRow<Schema>]>;
    },
  };
}

/**
 * Rows for a statement in SQL, sent in one array for each column, so that its text is the same for every number of them. Arrays and JSON
 * are sent as text: an array of arrays has rows of one length only.
 *
 * @param types of the columns, under the names of properties: those of an entity are the `row` of `sqlColumnsOf`
 */
export function sqlRowsOf<const Row extends Types>(types: Row) {
  const columns = Object.entries(types).map(([property, { name: type }]) => {
    const column = columnNameOf(property);
    const plain = { property, column, sentAs: type, received: column, toSent: (value: unknown): unknown => value };
    if (type !== 'jsonb' && !type.endsWith('[]')) return plain;
    const received =
      type === 'jsonb'
        ? `${column}::jsonb`
        : `array(select jsonb_array_elements_text(${column}::jsonb)::${type.slice(0, -2)}) as ${column}`;
    return { ...plain, sentAs: 'text', received, toSent: (value: unknown) => JSON.stringify(value) };
  });
  const names = columns.map(({ column }) => column);
  const arrays = columns.map(({ property, sentAs }) => arrayOfHiddenLength(`:${property}`, sentAs));
  return {
    /** Names of the columns in SQL. */
    names,
    /** What a query of the rows selects, and from what. */
    values: columns.map(({ received }) => received).join(', '),
    from: `unnest(${arrays.join(', ')}) as sent (${names.join(', ')})`,
    params: Object.fromEntries(
      columns.map(({ property, sentAs }) => [property, { name: `${sentAs}[]`, isNullable: false }]),
    ) as { readonly [Name in keyof Row]: SqlType<readonly unknown[]> },
    /** Values of the parameters. */
    valuesOf: (rows: readonly ValuesOf<Row>[]) =>
      Object.fromEntries(
        columns.map(({ property, toSent }) => [property, rows.map((row) => toSent(row[property]))]),
      ) as unknown as { readonly [Name in keyof Row]: readonly unknown[] },
  };
}

const columnNameOf = (property: string): string => property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** A function at first, and then what it returned. */
const isRelation = (property: unknown): boolean =>
  typeof property === 'function' || /^(1|m):/.test((property as { readonly kind?: string }).kind ?? '');

/** Names of all columns of an entity but some. */
export const columnNamesExcept = <Schema extends EntitySchemaWithMeta, const Omitted extends PropertyOf<Schema>>(
  schema: Schema,
  ...omitted: readonly Omitted[]
) =>
  Object.entries(schema.properties).flatMap(([name, property]) =>
    isRelation(property) || omitted.includes(name as Omitted) ? [] : [name],
  ) as Exclude<PropertyOf<Schema>, Omitted>[];

/** `columnsOf` a table with a name of its own in the statement: `selectFrom('tag as x').select(columnsIn('x', TagSchema))`. */
export const columnsIn = <
  const Alias extends string,
  Schema extends EntitySchemaWithMeta,
  const Omitted extends PropertyOf<Schema> = never,
>(
  alias: Alias,
  schema: Schema,
  ...omitted: readonly Omitted[]
) => columnsOf(schema, ...omitted).map((column) => `${alias}.${column}` as const);

/** Any of these ids: `where('id', '=', anyOf(ids))`, whose text does not depend on how many there are. */
export const anyOf = (ids: readonly string[]): RawBuilder<string> => sql<string>`any(${ids}::uuid[])`;

/**
 * The rows of a page, by one column that is unique among them, in the order of its bytes, whatever language the database speaks:
 * `.$call(pageBy('slug', page))`.
 */
export const pageBy =
  (column: string, { after, limit }: KeyBounds) =>
  <O>(query: SelectQueryBuilder<never, never, O>): SelectQueryBuilder<never, never, O> => {
    const key = sql`${sql.ref(column)} collate "C"`;
    // No key is empty. A condition with `or`, or an expression that row security does not trust, would be no condition of the index.
    return query.where(sql<boolean>`${key} > (select coalesce(${after}::text, ''))`).orderBy(key).limit(limit);
  };

/** The rows of a page by a time, newest first, then id: `.$call(pageByNewest('created_at', 'id', page))`. */
export const pageByNewest =
  (timeColumn: string, idColumn: string, { time, id, limit }: TimeBounds) =>
  <O>(query: SelectQueryBuilder<never, never, O>): SelectQueryBuilder<never, never, O> => {
    const [at, row] = [sql.ref(timeColumn), sql.ref(idColumn)];
    const start = sql`${time}::timestamptz`;
    return query
      .where(sql<boolean>`(${start} is null or ${at} < ${start} or (${at} = ${start} and ${row} > ${id}::uuid))`)
      .orderBy(at, 'desc')
      .orderBy(row)
      .limit(limit);
  };

/** How many rows a statement finds: `.select(COUNT)`. */
export const COUNT = sql<number>`count(*)::integer`.as('count');

/** The count of such a statement. */
export const countIn = ([row]: readonly { readonly count: number }[]): number => row?.count ?? 0;

/** Placeholder of a parameter while a statement is compiled. */
class Parameter {
  constructor(readonly name: string | symbol) {}

  [Symbol.toPrimitive](): never {
    throw new Error(`the parameter ${String(this.name)} has no value while its statement is made`);
  }
}

const PARAMETERS: ProxyHandler<object> = {
  get: (_, name) => new Parameter(name),
  ownKeys: () => {
    throw new Error('name the parameters of a statement one by one: they cannot be enumerated while it is compiled');
  },
};

/** Without `returning` a write has no rows; Kysely says how many it changed, which nobody here asks. */
type Returned<Result> = Result extends InsertResult | UpdateResult | DeleteResult ? never : Result;

/**
 * A statement that is made and compiled when it is first run, and prepared once on each connection.
 *
 * @param build puts parameters where values belong, and does nothing else with them: at this time they have none
 * @param isOfOwner the role of the service may not run it: only a start, or a program, does
 */
export function prepared<Params extends object, Result extends object>(
  build: (params: Params) => Compilable<Result>,
  { isOfOwner = false }: { readonly isOfOwner?: boolean } = {},
): Statement<Params, Returned<Result>> {
  const compiled = once(() => {
    const { sql, parameters } = build(new Proxy({}, PARAMETERS) as Params).compile();
    return statement<Params, Returned<Result>>(sql, (params) =>
      parameters.map((value) => (value instanceof Parameter ? params[value.name as keyof Params] : value)),
    );
  });
  const run = (from: Connected | Query, params: Params) => compiled()(from, params);
  const text = { get: () => compiled().text };
  return Object.defineProperties(run, { text, isOfOwner: { value: isOfOwner } }) as Statement<Params, Returned<Result>>;
}
