import type { FastifyInstance } from 'fastify';
import type { Database } from '../database/database.js';
import { AppError } from '../errors.js';

/** Whether this node is leaving. Set once, by the drain. */
export interface Lifecycle {
  isDraining: boolean;
}

/**
 * For operators: `/livez` (the process runs), `/readyz` and `/api/status` (it can serve: the database answers, and start-up
 * has migrated it and opened the keyring, since nothing listens before).
 */
export function mountHealth(app: FastifyInstance, database: Database, lifecycle: Lifecycle): void {
  const ready = async (): Promise<{ status: 'ok' }> => {
    if (lifecycle.isDraining) throw new AppError('SHUTTING_DOWN', undefined, { retryAfterSeconds: 5 });
    try {
      await database.query('select 1');
    } catch (error) {
      throw new AppError('STORE_UNAVAILABLE', undefined, { cause: error, retryAfterSeconds: 1 });
    }
    return { status: 'ok' };
  };
  app.get('/livez', async () => ({ status: 'ok' }));
  app.get('/readyz', ready);
  app.get('/api/status', ready);
}
