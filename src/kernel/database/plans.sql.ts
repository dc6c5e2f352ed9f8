import { type RowFrom, sqlStatement, t } from './statement.js';

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
