import type { Query } from './database.js';
import { BEGIN, BEGIN_SNAPSHOT, COMMIT, ROLLBACK, setLocalLimit } from './session.sql.js';

/**
 * Runs work in a transaction, for what has a connection of its own and no Context.
 *
 * @param query on one connection
 * @param options `isUnlimited`: each statement may take as long as it needs
 */
export async function inOwnTransaction<T>(
  query: Query,
  work: () => Promise<T>,
  { isUnlimited = false }: { readonly isUnlimited?: boolean } = {},
): Promise<T> {
  await query(BEGIN);
  try {
    if (isUnlimited) await query(setLocalLimit('statement_timeout', 0));
    const result = await work();
    await query(COMMIT);
    return result;
  } catch (error) {
    await query(ROLLBACK).catch(() => undefined);
    throw error;
  }
}

/**
 * Runs work on the database as it is at one moment, also while the service goes on writing, and without limits of time.
 *
 * @param query on one connection
 */
export async function inSnapshot<T>(query: Query, work: () => Promise<T>): Promise<T> {
  await query(BEGIN_SNAPSHOT);
  try {
    await query(setLocalLimit('statement_timeout', 0));
    await query(setLocalLimit('idle_in_transaction_session_timeout', 0));
    return await work();
  } finally {
    await query(ROLLBACK).catch(() => undefined);
  }
}
