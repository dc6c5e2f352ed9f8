import { readFile } from 'node:fs/promises';
import type { Database, Query } from '../kernel/database/database.js';
import { refuseOtherSchema } from '../kernel/database/migrate.js';
import { type Header, type Manifest, type TableToWrite, writeBackup } from './backup-file.js';
import { FIND_AUDIT_HEAD, FIND_KEYS, LIST_MIGRATIONS, LIST_PARTITIONS, LIST_SEQUENCES } from './catalog.sql.js';
import { fixTextFormats, quoted, rowsOf, type Table, tablesToBackUp } from './tables.js';

/**
 * Writes everything that the database of a service has into a file, as it is at one moment, while the service goes on. The root key is
 * neither needed nor written.
 *
 * @param paths of the backup, which must not exist, and of the manifest of persisted documents
 * @throws ConfigurationFault for a database of another version of Strongroom
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
    database.withConnection(async (query) => {
      const tables = await tablesToBackUp(query);
      await query('begin isolation level repeatable read, read only');
      try {
        await query('set local statement_timeout = 0');
        await query('set local lock_timeout = 0');
        await query('set local idle_in_transaction_session_timeout = 0');
        // Before the first query, which fixes the moment: a dropped month of the audit trail or a migrated table is gone from older
        // moments too.
        await query(`lock table ${tables.map(({ name }) => quoted(name)).join(', ')} in access share mode`);
        await refuseOtherSchema(database);
        await fixTextFormats(query);
        const header = { ...(await headerOf(query)), persistedDocuments };
        return await writeBackup(paths.backup, header, withRows(query, tables));
      } finally {
        await query('rollback').catch(() => undefined);
      }
    }),
  );
}

async function headerOf(query: Query): Promise<Omit<Header, 'format' | 'version' | 'persistedDocuments'>> {
  const [clock] = await query<{ now: Date }>('select now() as now');
  const [keys] = await FIND_KEYS(query, {});
  if (clock === undefined || keys === undefined) throw new Error('the database has no check value of its root key');
  const [seal] = await FIND_AUDIT_HEAD(query, {});
  return {
    createdAt: clock.now.toISOString(),
    migrations: (await LIST_MIGRATIONS(query, {})).map(({ name }) => name),
    keyCheckValue: keys.keyCheckValue,
    organizationKeyIds: [...keys.organizationKeyIds],
    auditHead: seal?.head ?? null,
    partitions: await LIST_PARTITIONS(query, {}),
    sequences: await LIST_SEQUENCES(query, {}),
  };
}

async function* withRows(query: Query, tables: readonly Table[]): AsyncGenerator<TableToWrite> {
  for (const table of tables) yield { table: table.name, columns: [...table.columns], rows: rowsOf(query, table) };
}
