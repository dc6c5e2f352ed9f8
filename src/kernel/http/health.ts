import type { FastifyInstance } from 'fastify';
import type { Database } from '../database/database.js';
import { AppError } from '../errors.js';
import { SharedQuestion } from '../shared-question.js';

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
  const probe = new SharedQuestion(() => database.query('select 1'), ANSWER_WITHIN_MS);
  /** @throws STORE_UNAVAILABLE also when the database is silent */
  const ask = async (): Promise<void> => {
    const answer = await probe.answer(null).catch((error: unknown) => {
      throw unavailable(error);
    });
    if (answer === null) throw unavailable();
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
