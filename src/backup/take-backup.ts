import { readFile } from 'node:fs/promises';
import type { Database, Query } from '../kernel/database/database.js';
import { refuseOtherSchema } from '../kernel/database/migrate.js';
import { listMigrations } from '../kernel/database/migration.sql.js';
import { inSnapshot } from '../kernel/database/on-connection.js';
import { setLocalLimit } from '../kernel/database/session.sql.js';
import { type Header, type Manifest, type TableToWrite, writeBackup } from './backup-file.js';
import { findHeader, listPartitions, listSequences } from './catalog.sql.js';
import { lockTables } from './copy.sql.js';
import { fixTextFormats, rowsOf, type Table, tablesToBackUp } from './tables.js';

/**
 * Writes everything that the database of a service has into a file, as it is at one moment, while the service goes on. The root key is
 * neither needed nor written.
 *
 * @param paths of the backup, which must not exist, and of the manifest of persisted documents
 * @throws ConfigurationError for a database of another version of Strongroom
 */
export async function takeBackup(
  database: Database,
  paths: { readonly backup: string; readonly persistedDocuments: string },
): Promise<Manifest> {
  const persistedDocuments = await readFile(paths.persistedDocuments, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  return database.withoutLimits(() =>
    database.withConnection(async (query, session) => {
      const tables = await tablesToBackUp(query);
      return inSnapshot(session, async () => {
        await query(setLocalLimit('lock_timeout', 0));
        // Before the first query, which fixes the moment: a dropped month of the audit trail or a migrated table is gone from older
        // moments too.
        await query(lockTables(tables.map(({ name }) => name)));
        await refuseOtherSchema(database);
        await fixTextFormats(query);
        const header = { ...(await headerOf(query)), persistedDocuments };
        return writeBackup(paths.backup, header, withRows(query, tables));
      });
    }),
  );
}

async function headerOf(query: Query): Promise<Omit<Header, 'format' | 'version' | 'persistedDocuments'>> {
  const [found] = await findHeader(query, {});
  if (found === undefined) throw new Error('the database has no check value of its root key');
  return {
    ...found,
    createdAt: found.createdAt.toISOString(),
    organizationKeyIds: [...found.organizationKeyIds],
    migrations: (await listMigrations(query, {})).map(({ name }) => name),
    partitions: await listPartitions(query, {}),
    sequences: await listSequences(query, {}),
  };
}

async function* withRows(query: Query, tables: readonly Table[]): AsyncGenerator<TableToWrite> {
  for (const table of tables) yield { table: table.name, columns: [...table.columns], rows: rowsOf(query, table) };
}
