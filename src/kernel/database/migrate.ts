import { migrations } from '../../migrations/index.js';
import { ConfigurationFault } from '../configuration-fault.js';
import type { Database } from './database.js';
import { sqlState } from './in-transaction.js';

/** Any constant will do, as long as no other program in the same database takes it. */
const MIGRATION_LOCK = 7_266_001;

/**
 * Brings the database to this program's schema. Any number of nodes may start at once: one migrates, the others wait.
 *
 * @param before runs under the lock, before anything is written; it refuses a database that is not ours
 * @param after runs under the lock, on the migrated schema
 * @throws ConfigurationFault when the schema is newer than the program, or the server may lose acknowledged writes
 * Source: reliability P8, P12.
 */
export async function migrate(
  database: Database,
  before: () => Promise<void>,
  after: () => Promise<void>,
): Promise<void> {
  await database.withConnection(async (query) => {
    // Ten nodes may wait here for the first one; its work is bounded by the statement timeout of each step.
    await query('set lock_timeout = 0');
    await query('set statement_timeout = 0');
    await query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    try {
      await refuseUnsafeServer(database);
      await refusingForeignTables(database, async () => {
        await before();
        await refuseNewerSchema(database);
        await database.migrator.up();
        await after();
      });
    } finally {
      await query('select pg_advisory_unlock($1)', [MIGRATION_LOCK]);
      await query('reset lock_timeout');
      await query('reset statement_timeout');
    }
  });
}

/** Names that exist already, or tables without our columns. A missing right is no such case. */
const FOREIGN_SCHEMA = /^42(?!501)/;

/** A table of another program that has the name of one of ours. @throws ConfigurationFault for it */
async function refusingForeignTables(database: Database, work: () => Promise<void>): Promise<void> {
  const wasMigrated = await hasMigrations(database);
  try {
    await work();
  } catch (error) {
    if (!FOREIGN_SCHEMA.test(sqlState(error) ?? '')) throw error;
    // Made before the first migration; without one it is all that is ours in there.
    if (!wasMigrated) await database.query('drop table if exists schema_migration');
    throw new ConfigurationFault([
      'DATABASE_URL names a database that holds tables of another program, or tables of ours that were changed; name an empty database',
    ]);
  }
}

async function refuseUnsafeServer(database: Database): Promise<void> {
  const [server] = await database.query<{ version: string; fsync: string; pages: string }>(
    `select current_setting('server_version_num') as version, current_setting('fsync') as fsync, current_setting('full_page_writes') as pages`,
  );
  const faults = [
    ...(Number(server?.version) < 140_000 ? ['DATABASE_URL names a server older than Postgres 14'] : []),
    ...(server?.fsync === 'off'
      ? ['DATABASE_URL names a server with fsync off: it may lose what was acknowledged']
      : []),
    ...(server?.pages === 'off'
      ? ['DATABASE_URL names a server with full_page_writes off: it may lose what was acknowledged']
      : []),
  ];
  if (faults.length > 0) throw new ConfigurationFault(faults);
}

async function refuseNewerSchema(database: Database): Promise<void> {
  if (!(await hasMigrations(database))) return;
  const done = await database.query<{ name: string }>('select name from schema_migration');
  if (done.some(({ name }) => !migrations.some((known) => known.name === name))) {
    throw new ConfigurationFault(['the database was migrated by a newer version of this program; start that version']);
  }
}

async function hasMigrations(database: Database): Promise<boolean> {
  const [table] = await database.query<{ exists: boolean }>(
    `select to_regclass('schema_migration') is not null as exists`,
  );
  return table?.exists === true;
}
