import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Database } from '../database/database.js';
import { AppError } from '../errors.js';

/** Whether this node is leaving. Set once, by the drain. */
export interface Lifecycle {
  isDraining: boolean;
}

/** Less than probes wait. */
const ANSWER_WITHIN_MS = 2_000;

/**
 * For operators: `/livez` (the process runs), `/readyz` and `/api/status` (it can serve: the database answers, and start-up
 * has migrated it and opened the keyring, since nothing listens before).
 */
export function mountHealth(app: FastifyInstance, database: Database, lifecycle: Lifecycle): void {
  const unavailable = (cause?: unknown): AppError =>
    new AppError('STORE_UNAVAILABLE', undefined, { cause, retryAfterSeconds: 1 });
  let asking: Promise<unknown> | null = null;
  /** However many probe at once, the database is asked once. @throws STORE_UNAVAILABLE also when it is silent */
  const ask = async (): Promise<void> => {
    asking ??= database.query('select 1');
    const mine = asking;
    const patience = new AbortController();
    const late = delay(ANSWER_WITHIN_MS, undefined, { signal: patience.signal }).then(() => {
      throw unavailable();
    });
    try {
      await Promise.race([mine, late]);
    } catch (error) {
      throw error instanceof AppError ? error : unavailable(error);
    } finally {
      patience.abort();
      // Also one that never answers: the next probe must get a connection that lives.
      if (asking === mine) asking = null;
      for (const each of [mine, late]) each.catch(() => undefined);
    }
  };
  const ready = async (): Promise<{ status: 'ok' }> => {
    if (lifecycle.isDraining) throw new AppError('SHUTTING_DOWN', undefined, { retryAfterSeconds: 5 });
    await ask();
    return { status: 'ok' };
  };
  app.get('/livez', async () => ({ status: 'ok' }));
  app.get('/readyz', ready);
  app.get('/api/status', ready);
}
