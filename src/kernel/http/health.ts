import type { FastifyInstance } from 'fastify';
import type { Database } from '../database/database.js';
import { AppError } from '../errors.js';
import type { Jobs } from '../jobs/jobs.js';
import { SingleFlight } from '../once.js';

/** Whether this node is leaving. Set once, by the drain. */
export interface Lifecycle {
  isDraining: boolean;
}

/** Less than probes wait. */
const RESPONSE_WITHIN_MS = 2_000;

/**
 * For operators: `/livez` (the process runs, and no restart would help), `/readyz` and `/api/status` (it can serve: the database
 * answers and takes changes, and start-up has migrated it and opened the keyring, since nothing listens before).
 */
export function mountHealth(
  app: FastifyInstance,
  {
    database,
    databaseRole,
    jobs,
    lifecycle,
  }: { database: Database; databaseRole: string; jobs: Pick<Jobs, 'store'>; lifecycle: Lifecycle },
): void {
  const probe = new SingleFlight(() => database.takesChanges(), RESPONSE_WITHIN_MS);
  /** @throws STORE_UNAVAILABLE also when the database is silent */
  const ask = async (): Promise<void> => {
    const answer = await probe.result(null).catch((cause: unknown) => {
      throw new AppError('STORE_UNAVAILABLE', undefined, { cause });
    });
    if (answer !== true) throw new AppError('STORE_UNAVAILABLE');
  };
  const ready = async (): Promise<{ status: 'ok' }> => {
    if (lifecycle.isDraining) throw new AppError('SHUTTING_DOWN');
    await ask();
    return { status: 'ok' };
  };
  app.get('/livez', async () => {
    if (database.isStarved) throw new AppError('STORE_UNAVAILABLE', 'The connection pool is stuck. Restart this node.');
    return { status: 'ok' };
  });
  // For whoever looks, and no reason to be left: jobs are done whether their store is reached or not, only later.
  app.get('/readyz', async () => ({ ...(await ready()), jobs: jobs.store, databaseRole }));
  app.get('/api/status', ready);
}
