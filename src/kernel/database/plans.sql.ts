// Parts of statements that decide how they are planned, and sizes of tables from the catalog.
import { type Compilable, type Expression, type Kysely, type RawBuilder, sql } from 'kysely';
import { type RowFrom, sqlStatement, t } from './statement.js';

/**
 * The rows of a page of each of many owners, each read no further than its page: `pagePerOwner(tables, projectIds, (id) => rows)`. Rows of one
 * owner keep the order that they have there, since only a nested loop can join what has a limit of its own.
 */
export const pagePerOwner = <Row, Schema>(
  tables: Kysely<Schema>,
  ownerIds: readonly string[],
  rowsOf: (ownerId: RawBuilder<string>) => Expression<Row>,
): Compilable<Row> => ({
  compile: () =>
    sql<Row>`select page.* from unnest(${ownerIds}::uuid[]) owner (id) cross join lateral ${rowsOf(sql.ref('owner.id'))} page`.compile(
      tables,
    ),
});

/**
 * An array parameter in the text of a statement that is prepared. Its length stays hidden from the planner: where Postgres sees it,
 * it estimates a plan for this length to be cheaper than a generic plan, and plans every execution again, which can take
 * longer than the statement.
 *
 * @param place of the parameter: `$1`
 * @param type of its elements
 */
export const arrayOfHiddenLength = (place: string, type: string): string => `(select ${place}::${type}[])::${type}[]`;

/** Sizes of all tables that have as many pages or more. */
export const listTableSizes = sqlStatement({
  text: `select oid::text as id, pages from pg_class
    cross join lateral (select (pg_relation_size(oid) / current_setting('block_size')::integer)::integer as pages) size
    where relkind = 'r' and relnamespace = (select oid from pg_namespace where nspname = current_schema()) and pages >= :least::integer`,
  params: { least: t.integer },
  row: { id: t.text, pages: t.integer },
});

/** The size of a table in pages. */
export type TableSize = RowFrom<typeof listTableSizes>;
