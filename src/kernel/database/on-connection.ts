import type { Session } from './session.js';
import { BEGIN, BEGIN_SNAPSHOT, setLocalLimit } from './session.sql.js';

/**
 * Runs work in a transaction, for what has a connection of its own and no Context.
 *
 * @param options `isUnlimited`: each statement may take as long as it needs; `begin`: the text
 */
export async function inOwnTransaction<T>(
  session: Session,
  work: () => Promise<T>,
  { isUnlimited = false, begin = BEGIN }: { readonly isUnlimited?: boolean; readonly begin?: string } = {},
): Promise<T> {
  session.begin(begin);
  try {
    if (isUnlimited) await session.query(setLocalLimit('statement_timeout', 0));
    const result = await work();
    await session.commit();
    return result;
  } catch (error) {
    await session.rollback().catch(() => undefined);
    throw error;
  }
}

/** Runs work on the database as it is at one moment, also while the service goes on writing, and without limits of time. */
export const inSnapshot = <T>(session: Session, work: () => Promise<T>): Promise<T> =>
  inOwnTransaction(
    session,
    async () => {
      await session.query(setLocalLimit('idle_in_transaction_session_timeout', 0));
      return work();
    },
    { isUnlimited: true, begin: BEGIN_SNAPSHOT },
  );
