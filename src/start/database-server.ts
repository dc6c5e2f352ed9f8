import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../config.js';
import { TemporaryError } from '../kernel/configuration-error.js';
import { NO_POOLER } from '../kernel/database/bounded-client.js';
import { type Address, Database } from '../kernel/database/database.js';
import type { Model } from '../kernel/database/orm-options.js';
import type { Log } from '../kernel/log.js';
import { makeDataDirectory } from '../kernel/postgres/data-directory.js';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../kernel/postgres/embedded-postgres.js';

/** Where the database is. Its URL is that of the owner. */
export interface DatabaseServer extends Address, Pick<EmbeddedPostgres, 'stop'> {
  /** By which the service logs in; `null`: by `url`, as the owner does. */
  readonly serviceUrl: string | null;
  /** `null`: the database is not ours. */
  readonly figures: EmbeddedPostgres['figures'] | null;
}

/**
 * The Postgres that the service works on: the one of `DATABASE_URL`, or the embedded one, which this starts.
 *
 * @throws ConfigurationError when `DATA_DIR` cannot work
 */
export async function openDatabaseServer(config: Config, log: Log): Promise<DatabaseServer> {
  const { databaseUrl, databaseOwnerUrl, pooler, rootKey, dataDir } = config;
  if (databaseUrl === null) {
    const embedded = await startEmbeddedPostgres({
      dataDir,
      log: (event, fields, level = 'info') => log[level](event, fields),
    });
    return { ...embedded, pooler: NO_POOLER, serviceUrl: null };
  }
  if (rootKey === null) await makeDataDirectory(dataDir);
  return {
    url: (databaseOwnerUrl ?? databaseUrl).reveal(),
    pooler,
    serviceUrl: databaseOwnerUrl === null ? null : databaseUrl.reveal(),
    stop: async () => undefined,
    figures: null,
  };
}

/** Stops a server that may still be starting, or has failed to. */
export const stopServer = (starting: Promise<DatabaseServer>): Promise<void> =>
  starting.then(
    ({ stop }) => stop(),
    () => undefined,
  );

const PAUSE_MS = 1_000;

/**
 * Connects to the database. One that is away is waited for: it may start together with the service.
 *
 * @param stopping ends the wait
 * @throws ConfigurationError when these settings cannot work, and TemporaryError when the database was away all the time
 */
export async function connectDatabase(
  { databaseWaitSeconds }: Pick<Config, 'databaseWaitSeconds'>,
  { at, model, log, stopping }: { at: Address; model: Model; log: Log; stopping: AbortSignal },
): Promise<Database> {
  const deadline = performance.now() + databaseWaitSeconds * 1_000;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await Database.connect(at, model, log);
    } catch (error) {
      const isWorthWaiting = error instanceof TemporaryError && performance.now() < deadline && !stopping.aborted;
      if (!isWorthWaiting) throw error;
      if (attempt === 1) log.warn('waiting for the database', { seconds: databaseWaitSeconds, reason: error.message });
      await delay(PAUSE_MS, undefined, { signal: stopping }).catch(() => undefined);
    }
  }
}
