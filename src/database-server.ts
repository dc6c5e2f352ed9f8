import { mkdir } from 'node:fs/promises';
import type { Config } from './config.js';
import { ConfigurationFault } from './kernel/configuration-fault.js';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './kernel/database/embedded/embedded-postgres.js';
import type { Log } from './kernel/log.js';

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
  await mkdir(dataDir, { recursive: true, mode: 0o700 }).catch(() => {
    throw new ConfigurationFault([
      'DATA_DIR cannot be made or entered by this user; name a directory that it may write',
    ]);
  });
  return { url: databaseUrl.reveal(), stop: async () => undefined, figures: null };
}
