import type { Query } from '../kernel/database/database.js';
import { BackupError, type Header, type Manifest, type Part } from './backup-file.js';
import { listForeignKeys, listPartitions, listSequences, listTriggers } from './catalog.sql.js';
import {
  addConstraint,
  dropConstraint,
  insertRowsOfText,
  makePartition,
  nameInSql,
  setSequence,
  setTrigger,
  truncateTables,
} from './copy.sql.js';
import { FIRST_TABLE, fixTextFormats, rowsOf, type Table, TableDigest, tablesToBackUp } from './tables.js';

/**
 * Loads the rows of a backup into the schema that its migrations made, and compares what is stored with its manifest. Triggers and
 * foreign keys are away meanwhile: rows arrive by the names of their tables. Adding the keys again checks every row.
 *
 * @param query in a transaction, on a database without rows
 * @param checkKey called when the database has the check value of its root key, and nothing else yet
 * @throws BackupError when its tables are not those of the schema, or a table differs after it was loaded
 */
export async function loadBackup(
  query: Query,
  header: Header,
  parts: AsyncIterable<Part>,
  checkKey: () => Promise<unknown>,
): Promise<void> {
  await fixTextFormats(query);
  await makePartitions(query, header);
  const tables = new Map((await tablesToBackUp(query)).map((table) => [table.name, table]));
  const foreignKeys = await listForeignKeys(query, {});
  const triggers = await listTriggers(query, {});
  for (const { table, name } of foreignKeys) await query(dropConstraint(table, name));
  for (const { table, name } of triggers) await query(setTrigger(table, name, 'disable'));
  // A migration may have made rows. Those of the backup are in their place.
  await query(truncateTables([...tables.keys()]));
  await loadParts(query, parts, tables, checkKey);
  await setSequences(query, header);
  for (const { table, name, definition } of foreignKeys) await query(addConstraint(table, name, definition));
  for (const { table, name, enabled } of triggers) await query(setTrigger(table, name, enabled));
}

/** A month of the audit trail, as Postgres describes its partition. */
const MONTH = /^FOR VALUES IN \('(\d{4}-\d{2}-01)'\)$/;

/** Makes the months of the audit trail that the service has made since. What a file says of partitions is no SQL to be run. */
async function makePartitions(query: Query, header: Header): Promise<void> {
  const present = new Set((await listPartitions(query, {})).map(({ name }) => name));
  for (const { parent, name, bound } of header.partitions) {
    if (present.has(name)) continue;
    const [, month] = MONTH.exec(bound) ?? [];
    if (parent !== 'audit_record' || month === undefined)
      throw new BackupError('the backup has partitions that its migrations do not make');
    await makePartition(query, { month });
  }
}

async function loadParts(
  query: Query,
  parts: AsyncIterable<Part>,
  tables: ReadonlyMap<string, Table>,
  checkKey: () => Promise<unknown>,
): Promise<void> {
  const columns = new Map<string, readonly string[]>();
  let last = '';
  for await (const part of parts) {
    const name = 'table' in part ? part.table.table : '';
    if (last === FIRST_TABLE && name !== last) await checkKey();
    last = name;
    if ('table' in part) {
      columns.set(name, part.table.columns);
      await insert(query, tableOf(tables, part.table), part.table.columns, part.lines);
    }
    if ('manifest' in part) {
      if (columns.size !== tables.size) throw new BackupError('the backup lacks tables that its migrations make');
      await compare(query, columns, part.manifest);
    }
  }
}

function tableOf(
  tables: ReadonlyMap<string, Table>,
  { table: name, columns }: { table: string; columns: string[] },
): Table {
  const table = tables.get(name);
  const hasAll = columns.length === table?.columns.length && columns.every((column) => table.columns.includes(column));
  if (table === undefined || !hasAll) throw new BackupError('the backup has tables that its migrations do not make');
  return table;
}

/** @param lines JSON arrays of the text of each of the columns */
async function insert(query: Query, table: Table, columns: readonly string[], lines: readonly string[]): Promise<void> {
  if (lines.length === 0) return;
  const types = new Map(table.columns.map((column, index) => [column, table.types[index] ?? '']));
  const stored = columns.map((name) => ({ name, type: types.get(name) ?? '' }));
  await query(insertRowsOfText(table.name, stored), [`[${lines.join(',')}]`]);
}

async function setSequences(query: Query, header: Header): Promise<void> {
  for (const { name, lastValue } of header.sequences) await setSequence(query, { name: nameInSql(name), lastValue });
  const stored = new Map((await listSequences(query, {})).map(({ name, lastValue }) => [name, lastValue]));
  if (header.sequences.some(({ name, lastValue }) => stored.get(name) !== lastValue))
    throw new BackupError('the backup has sequences that its migrations do not make');
}

/**
 * What is stored now, against what the backup has.
 *
 * @param columns of each table, in the order of the backup: its rows are compared as it has them
 * @throws BackupError
 */
async function compare(
  query: Query,
  columns: ReadonlyMap<string, readonly string[]>,
  manifest: Manifest,
): Promise<void> {
  const wrong: string[] = [];
  for (const { name, rows, digest } of manifest.tables) {
    const found = new TableDigest();
    for await (const lines of rowsOf(query, { name, columns: columns.get(name) ?? [] })) found.add(lines);
    if (found.value.rows !== rows || found.value.digest !== digest) wrong.push(name);
  }
  if (wrong.length > 0) throw new BackupError(`these tables are not as the backup has them: ${wrong.join(', ')}`);
}
