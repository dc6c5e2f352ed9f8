import { createHash } from 'node:crypto';
import type { Query } from '../kernel/database/database.js';
import { closeCursor, declareCursor, fetchFrom, setLocal } from '../kernel/database/session.sql.js';
import type { RowFrom } from '../kernel/database/statement.js';
import { listTables } from './catalog.sql.js';
import { listRowsAsText } from './copy.sql.js';

/**
 * Tables that backups leave out. All others are in them, also those that later versions add.
 *
 * - `schema_migration`: the backup names the migrations, and a restore runs them
 * - `rate_limit_count`: counts of the last minutes; not durable either
 * - `access_change`: numbers of transactions, which mean nothing on another server
 * - `agenda_jobs`: Agenda's table, in backups of versions that had it; a view of the jobs by now
 */
export const EXCLUDED_TABLES: readonly string[] = [
  'schema_migration',
  'rate_limit_count',
  'access_change',
  'agenda_jobs',
];

/** A table of the database, and the names and types of its stored columns. */
export type Table = RowFrom<typeof listTables>;

/** Most rows at a time. A secret takes up to 1 MiB as text, so that this bounds the memory. */
const MOST_ROWS = 100;
const CURSOR = 'rows_to_copy';
const BATCH_BYTES = 4 * 1024 * 1024;

/** The table that ties a database to its root key. Backups have it first, so that a wrong key is found at once. */
export const FIRST_TABLE = 'installation';

/** The tables that backups hold, in their order. */
export async function tablesToBackUp(query: Query): Promise<Table[]> {
  const tables = (await listTables(query, {})).filter(({ name }) => !EXCLUDED_TABLES.includes(name));
  return tables.sort((a, b) => Number(b.name === FIRST_TABLE) - Number(a.name === FIRST_TABLE));
}

/** Texts of values do not depend on how the server is set up. For the running transaction. */
export async function fixTextFormats(query: Query): Promise<void> {
  const settings = {
    timezone: 'UTC',
    datestyle: 'ISO, YMD',
    intervalstyle: 'iso_8601',
    bytea_output: 'hex',
    extra_float_digits: '1',
  };
  for (const [name, value] of Object.entries(settings)) await query(setLocal(name, value));
}

/**
 * All rows of a table in batches, in no order. A row is a JSON array of its columns as text, or null: text has no loss, which JSON
 * values would have (`null` in a column of JSON, long numbers).
 *
 * @param query in a transaction
 */
export async function* rowsOf(
  query: Query,
  { name, columns }: Pick<Table, 'name' | 'columns'>,
): AsyncGenerator<string[]> {
  await query(declareCursor(CURSOR, listRowsAsText(name, columns)));
  for (let most = MOST_ROWS; ; ) {
    const rows = await query<{ line: string }>(fetchFrom(CURSOR, most));
    if (rows.length === 0) break;
    const lines = rows.map(({ line }) => line);
    yield lines;
    const bytes = lines.reduce((sum, line) => sum + line.length, 0);
    most = Math.max(1, Math.min(MOST_ROWS, Math.floor((BATCH_BYTES * lines.length) / bytes)));
  }
  await query(closeCursor(CURSOR));
}

/** How many rows a table has, and what they are, in whatever order: the sum of their SHA-256 hashes. */
export class TableDigest {
  #rows = 0;
  #sum = 0n;

  add(lines: readonly string[]): void {
    for (const line of lines) this.#sum += BigInt(`0x${createHash('sha256').update(line).digest('hex')}`);
    this.#rows += lines.length;
  }

  get value(): { rows: number; digest: string } {
    return { rows: this.#rows, digest: BigInt.asUintN(256, this.#sum).toString(16).padStart(64, '0') };
  }
}
