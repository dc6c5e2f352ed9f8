import type { Config } from './config.js';
import type { Log } from './kernel/log.js';
import { makeDataDirectory } from './kernel/postgres/data-directory.js';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './kernel/postgres/embedded-postgres.js';

/** Where the database is. */
export interface DatabaseServer extends Pick<EmbeddedPostgres, 'url' | 'stop'> {
  /** `null`: the database is not ours. */
  readonly figures: EmbeddedPostgres['figures'] | null;
}

/**
 * The Postgres that the service works on: the one of `DATABASE_URL`, or the embedded one, which this starts.
 *
 * @throws ConfigurationFault when `DATA_DIR` cannot work
 */
export async function openDatabaseServer({ databaseUrl, dataDir }: Config, log: Log): Promise<DatabaseServer> {
  if (databaseUrl === null) {
    return startEmbeddedPostgres({ dataDir, log: (event, fields) => log.info(event, fields) });
  }
  await makeDataDirectory(dataDir);
  return { url: databaseUrl.reveal(), stop: async () => undefined, figures: null };
}
