import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { EntityManager } from '@mikro-orm/postgresql';
import { openRootKeys, recordInstallation } from '../kernel/crypto/installation.js';
import { cancelChange } from '../kernel/crypto/root-key-change.js';
import type { KeySettings } from '../kernel/crypto/root-key-sources.js';
import { type Database, type Query, queryOf } from '../kernel/database/database.js';
import { transactionOf } from '../kernel/database/in-transaction.js';
import { fillEmptyDatabase } from '../kernel/database/migrate.js';
import { makeDirectory, writeDurably } from '../kernel/files.js';
import { NO_ID } from '../kernel/ids.js';
import { codeOf } from '../kernel/log.js';
import { findOrganizationNamed } from '../start/bootstrap.queries.js';
import { type KernelParts, makeKernel } from '../start/make-kernel.js';
import { rotateRootKey } from '../start/root-key-rotation.js';
import { systemContext } from '../start/system-context.js';
import { pauseKinds, revokeAllClientSecrets, revokeAllTokens } from './after-restore.sql.js';
import { BackupError, type BackupPart, fileExists, type Header, type Manifest, readBackup } from './backup-file.js';
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

/** How a backup is restored. */
export interface RestoreOrder {
  /** Path of the backup. */
  readonly file: string;
  /** Whether credentials that the service issued become invalid: a backup has those valid that were revoked after it. */
  readonly revokesTokens: boolean;
  /** Whether `NEXT_ROOT_KEY` becomes the root key of the restored database. */
  readonly changesRootKey: boolean;
  /** Kinds of jobs that do not begin until somebody resumes them. */
  readonly pausedKinds: readonly string[];
  /** Path of the manifest of persisted documents. */
  readonly persistedDocuments: string;
}

/** What was restored. */
export interface Restored {
  readonly header: Header;
  readonly manifest: Manifest;
  readonly revokedTokenCount: number;
  readonly revokedClientSecretCount: number;
  /** Why the persisted documents of the backup were not written; null: they were, or it has none. */
  readonly documentsProblem: string | null;
}

/** What the service has in its configuration and its slices, for the restored database. */
interface RestoreParts {
  readonly keys: KeySettings;
  readonly kernel: KernelParts & { readonly publicUrl: string | null };
}

/**
 * Checks a backup, then restores it into an empty database in one transaction: all of it, or nothing.
 *
 * @throws BackupError when the file is no complete backup; ConfigurationError when the database is not empty, the backup is of a newer
 *   version, or the root key is another one
 */
export async function restoreBackup(database: Database, order: RestoreOrder, parts: RestoreParts): Promise<Restored> {
  const { header, manifest } = await check(order.file);
  let done: Omit<Restored, 'header' | 'manifest'> = {
    revokedTokenCount: 0,
    revokedClientSecretCount: 0,
    documentsProblem: null,
  };
  await fillEmptyDatabase(database, {
    migrations: header.migrations,
    fill: async (em) => {
      const query = queryIn(database, em);
      // With a next root key the backup needs ROOT_KEY alone, whatever change had been begun when it was taken.
      const keys = order.changesRootKey ? { ...parts.keys, nextRootKey: null } : parts.keys;
      await loadBackup(query, header, readBackup(order.file), () => openRootKeys(query, keys));
    },
    finish: async (em) => {
      const revoked = await finish(database, em, { order, header, parts });
      // Before the commit: a database that is there has its documents too, wherever the restore is cut off.
      const documentsProblem = await writeDocuments(order.persistedDocuments, header.persistedDocuments);
      done = { ...revoked, documentsProblem };
    },
  });
  return { header, manifest, ...done };
}

/** Revokes, pauses, changes the root key, and records all of it in the audit trail. */
async function finish(
  database: Database,
  em: EntityManager,
  { order, header, parts }: { order: RestoreOrder; header: Header; parts: RestoreParts },
): Promise<Pick<Restored, 'revokedTokenCount' | 'revokedClientSecretCount'>> {
  const query = queryIn(database, em);
  const [organization] = await findOrganizationNamed(query, { name: null });
  if (organization === undefined) throw new BackupError('the backup has no organization');
  const revoked = {
    revokedTokenCount: order.revokesTokens ? (await revokeAllTokens(query, {})).length : 0,
    revokedClientSecretCount: order.revokesTokens ? (await revokeAllClientSecrets(query, {})).length : 0,
  };
  await pauseKinds(query, { names: order.pausedKinds });
  if (order.changesRootKey) await cancelChange(query);
  const keys = await recordInstallation(query, await openRootKeys(query, parts.keys));
  const ctx = systemContext(makeKernel(database, keys, parts.kernel), organization.id);
  const tx = transactionOf(ctx, em);
  const facts = { organizationId: tx.organizationId, createdAt: header.createdAt, pausedKinds: order.pausedKinds };
  await tx.auditTrail.recordChange(tx, {
    action: 'installation:restore',
    facts: { ...facts, ...revoked },
    isKept: true,
  });
  if (order.changesRootKey) await rotateRootKey(tx, keys);
  return revoked;
}

const queryIn = (database: Database, em: EntityManager): Query => {
  const connected = { database, em, organizationId: NO_ID };
  return queryOf(connected);
};

/** Reads a backup to its end, before anything is written. @throws BackupError */
async function check(file: string): Promise<{ header: Header; manifest: Manifest }> {
  let header: Header | undefined;
  let manifest: Manifest | undefined;
  for await (const part of readBackup(file)) {
    if ('header' in part) header = part.header;
    if ('manifest' in part) manifest = part.manifest;
  }
  if (header === undefined || manifest === undefined) throw new BackupError('the file is truncated');
  return { header, manifest };
}

/** No reason to fail: the database is what counts. @returns what went wrong */
async function writeDocuments(path: string, documents: string | null): Promise<string | null> {
  if (documents === null) return null;
  if (await fileExists(path)) {
    const isTheSame = (await readFile(path, 'utf8').catch(() => null)) === documents;
    return isTheSame ? null : 'the file exists and was not changed';
  }
  try {
    await makeDirectory(dirname(path));
    await writeDurably(path, documents);
    return null;
  } catch (error) {
    return `the file cannot be written (${codeOf(error as Error)}); run \`npm run persist\` again`;
  }
}

/**
 * Loads the rows of a backup into the schema that its migrations made, and compares what is stored with its manifest. Triggers and
 * foreign keys are away meanwhile: rows arrive by the names of their tables. Adding the keys again checks every row.
 *
 * @param query in a transaction, on a database without rows
 * @param checkKey called when the database has the check value of its root key, and nothing else yet
 * @throws BackupError when its tables are not those of the schema, or a table differs after it was loaded
 */
async function loadBackup(
  query: Query,
  header: Header,
  parts: AsyncIterable<BackupPart>,
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
  parts: AsyncIterable<BackupPart>,
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
