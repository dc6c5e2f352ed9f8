import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../config.js';
import { ConfigurationError } from '../kernel/configuration-error.js';
import { openInstallationKeys, openRootKeys } from '../kernel/crypto/installation.js';
import type { InstallationKeys } from '../kernel/crypto/root-keys.js';
import { NO_POOLER } from '../kernel/database/bounded-client.js';
import type { Address, Database } from '../kernel/database/database.js';
import { refuseOtherSchema } from '../kernel/database/migrate.js';
import { nullIfMissing } from '../kernel/files.js';
import { createLog } from '../kernel/log.js';
import { findEmbeddedPostgres } from '../kernel/postgres/embedded-postgres.js';
import { openDatabaseServer } from '../start/database-server.js';

/** A database that a program works on. */
interface OpenServer extends Address {
  stop(): Promise<void>;
}

/**
 * Finds the database of a service that runs, or starts the embedded database of one that is stopped, for as long as the program runs.
 *
 * @throws ConfigurationError when there is none
 */
export async function openServer(config: Config): Promise<OpenServer> {
  if (config.databaseUrl !== null) return openDatabaseServer(config, createLog('silent'));
  const running = await findEmbeddedPostgres(config.dataDir);
  if (running !== null) return { url: running, pooler: NO_POOLER, stop: async () => undefined };
  // Started on an empty directory, a database would be made.
  if ((await stat(join(config.dataDir, 'postgres')).catch(nullIfMissing)) === null)
    throw new ConfigurationError(['DATA_DIR has no database; use that of the service, or set DATABASE_URL']);
  return openDatabaseServer(config, createLog('silent'));
}

/**
 * The keys of the installation that a program works on.
 *
 * @throws ConfigurationError for an empty database, one of another version, and a root key that is not the one of the database
 */
export async function openExistingInstallation(database: Database, config: Config): Promise<InstallationKeys> {
  await refuseOtherSchema(database);
  return openInstallationKeys(database.query, await openRootKeys(database.query, config));
}
