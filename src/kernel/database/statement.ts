import { type Connected, type Query, queryOf } from './database.js';

/** A statement whose text never changes: every connection parses and plans it once. */
export interface Statement<Params, Row> {
  /** Runs it in the transaction of `from`, where that has one. */
  (from: Connected | Query, params: Params): Promise<Row[]>;
  readonly text: string;
}

/** @param valuesOf what `$1`, `$2` ... stand for */
export const statement = <Params, Row extends object>(
  text: string,
  valuesOf: (params: Params) => unknown[],
): Statement<Params, Row> =>
  Object.assign(
    (from: Connected | Query, params: Params) =>
      (typeof from === 'function' ? from : queryOf(from))<Row>(text, valuesOf(params)),
    { text },
  );

/** A type of Postgres, and what the driver makes of its values. */
export interface SqlType<T> {
  readonly name: string;
  readonly isNullable: boolean;
  /** A column that only some variants of a statement have. */
  readonly isOptional?: boolean;
  /** Never there: carries the type. */
  readonly '~value'?: T;
}
/** Types of parameters or columns, by their names. */
export type Types = Readonly<Record<string, SqlType<unknown>>>;
/** Values of these types. */
export type ValuesOf<T extends Types> = {
  -readonly [Name in keyof T]: T[Name] extends SqlType<infer Value> ? Value : never;
};

const type = <T>(name: string): SqlType<T> => ({ name, isNullable: false });

/** The types of parameters and columns, for `sqlStatement`. */
export const t = {
  uuid: type<string>('uuid'),
  text: type<string>('text'),
  integer: type<number>('integer'),
  bigint: type<string>('bigint'),
  double: type<number>('double precision'),
  boolean: type<boolean>('boolean'),
  bytea: type<Buffer>('bytea'),
  inet: type<string>('inet'),
  time: type<Date>('timestamp with time zone'),
  json: type<unknown>('jsonb'),
  /** JSON of this form: of a column that only the service writes, by rules that it has checked. */
  jsonOf: <T>(): SqlType<T> => type('jsonb'),
  /** JSON of this form that the statement itself builds: `json_agg`. */
  builtJsonOf: <T>(): SqlType<T> => type('json'),
  /** Texts of which there are only these. A check of the table, or the statement itself, has to see to it. */
  oneOf: <const Text extends string>(..._texts: readonly Text[]): SqlType<Text> => type('text'),
  array: <T>({ name }: SqlType<T>): SqlType<readonly T[]> => type(`${name}[]`),
  nullable: <T>({ name }: SqlType<T>): SqlType<T | null> => ({ name, isNullable: true }),
  optional: <T>(column: SqlType<T>): SqlType<T | undefined> => ({ ...column, isOptional: true }),
};

/** A statement in SQL, and what a test holds against the database: the types of its parameters and columns. */
export interface SqlStatement<Params extends Types = Types, Row extends Types = Types>
  extends Statement<ValuesOf<Params>, ValuesOf<Row>> {
  readonly params: Params;
  readonly row: Row;
  /** The role of the service may not run it: only a start, or a program, does. */
  readonly isOfOwner: boolean;
}

/** `:name`, and not the `::` of a cast. */
const PARAMETER = /(?<![:\w]):([a-zA-Z]\w*)/g;

/**
 * A statement that only SQL can say, with `:name` for its parameters. It belongs in `*.sql.ts`: a test prepares what these files
 * export on a migrated database, and compares it with what is declared here.
 */
export function sqlStatement<const Params extends Types, const Row extends Types>({
  text,
  params,
  row,
  isOfOwner = false,
}: {
  readonly text: string;
  readonly params: Params;
  readonly row: Row;
  readonly isOfOwner?: boolean;
}): SqlStatement<Params, Row> {
  const names = Object.keys(params);
  const numbered = text.replace(PARAMETER, (_, name: string) => `$${names.indexOf(name) + 1}`);
  if (numbered.includes('$0')) throw new Error(`a parameter of this statement is not declared: ${text}`);
  return Object.assign(
    statement<ValuesOf<Params>, ValuesOf<Row>>(numbered, (values) => names.map((name) => values[name])),
    { params, row, isOfOwner },
  );
}

type Options = Readonly<Record<string, readonly unknown[]>>;
type Choice<O extends Options> = { readonly [Name in keyof O]: O[Name][number] };

/** A statement in variants, and the options that tell them apart, which a test goes through. */
interface SqlVariants<O extends Options = Options, Params extends Types = Types, Row extends Types = Types> {
  (choice: Choice<O>): SqlStatement<Params, Row>;
  readonly options: O;
}

/** A row of a statement, or of any variant of one. */
export type RowFrom<S> = S extends (...given: never) => infer Made
  ? Made extends Promise<(infer Row)[]>
    ? Row
    : RowFrom<Made>
  : never;

/**
 * A statement whose text depends on options of which there are few. Each variant is made when it is first used, and prepared once on
 * each connection. Parameters that it does not name are left out.
 */
export function sqlVariants<const O extends Options, const Params extends Types, const Row extends Types>({
  options,
  text,
  params,
  row,
}: {
  readonly options: O;
  readonly text: (choice: Choice<O>) => string;
  readonly params: Params;
  readonly row: Row;
}): SqlVariants<O, Params, Row> {
  const made = new Map<string, SqlStatement<Params, Row>>();
  const names = Object.keys(options);
  const find = (choice: Choice<O>): SqlStatement<Params, Row> => {
    const key = JSON.stringify(names.map((name) => choice[name]));
    const known = made.get(key);
    if (known !== undefined) return known;
    const own = text(choice);
    const named = new Set([...own.matchAll(PARAMETER)].map(([, name]) => name));
    const used = Object.fromEntries(Object.entries(params).filter(([name]) => named.has(name))) as Params;
    const variant = sqlStatement({ text: own, params: used, row });
    made.set(key, variant);
    return variant;
  };
  return Object.assign(find, { options });
}
