// Statements on any table, whose names they are given.
import pg from 'pg';
import { sqlStatement, t } from '../kernel/database/statement.js';

const quoted = (name: string): string => pg.escapeIdentifier(name);
const list = (names: readonly string[]): string => names.map(quoted).join(', ');

/** A name as SQL writes it. */
export const nameInSql = quoted;

/** Nobody alters these tables until the end of the transaction. */
export const lockTables = (tables: readonly string[]): string => `lock table ${list(tables)} in access share mode`;

/** The rows of a table, as JSON arrays of its columns as text. */
export const listRowsAsText = (table: string, columns: readonly string[]): string =>
  `select to_json(array[${columns.map((column) => `${quoted(column)}::text`).join(', ')}])::text as line from ${quoted(table)}`;

/** A column of a backup, and its type. */
interface StoredColumn {
  readonly name: string;
  readonly type: string;
}

/** Stores rows in that form, which are the one parameter: a JSON array. */
export const insertRowsOfText = (table: string, columns: readonly StoredColumn[]): string => `
  insert into ${quoted(table)} (${list(columns.map(({ name }) => name))}) overriding system value
  select ${columns.map(({ type }, index) => `(line ->> ${index})::${type}`).join(', ')} from json_array_elements($1::json) as line`;

export const truncateTables = (tables: readonly string[]): string => `truncate ${list(tables)}`;

export const dropConstraint = (table: string, name: string): string =>
  `alter table ${quoted(table)} drop constraint ${quoted(name)}`;

/** @param definition as the catalog writes it */
export const addConstraint = (table: string, name: string, definition: string): string =>
  `alter table ${quoted(table)} add constraint ${quoted(name)} ${definition}`;

export const setTrigger = (table: string, name: string, state: 'disable' | 'enable' | 'enable always'): string =>
  `alter table ${quoted(table)} ${state} trigger ${quoted(name)}`;

/** Makes the partition of a month of the audit trail. */
export const makePartition = sqlStatement({
  text: `select make_audit_partition(to_date(:month, 'YYYY-MM-DD'))::text as made`,
  params: { month: t.text },
  row: { made: t.text },
  isOfOwner: true,
});

/** Sets the last value of a sequence, which is named as SQL writes it. */
export const setSequence = sqlStatement({
  text: 'select setval(to_regclass(:name), :lastValue::bigint) as value',
  params: { name: t.text, lastValue: t.bigint },
  row: { value: t.bigint },
  isOfOwner: true,
});
