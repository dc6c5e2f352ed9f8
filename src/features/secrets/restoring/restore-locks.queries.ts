import { sql } from 'kysely';
import type { Transaction } from '../../../kernel/context.js';
import { anyOf, prepared } from '../../../kernel/database/tables.js';
import { lockByIds } from '../core/locks.queries.js';
import { type Lists, tables } from '../entities/tables.js';

/** The latest versions of those of these secrets that are deleted, locked until the transaction ends. */
export const holdDeleted = prepared(({ ids }: Lists<'ids'>) =>
  tables
    .selectFrom('secret_version as v')
    .select('v.secret_id as id')
    .where('v.secret_id', '=', anyOf(ids))
    .where(
      sql<boolean>`not exists (select from secret s where s.id = v.secret_id)
        and not exists (select from secret_version n where n.secret_id = v.secret_id and n.version > v.version)`,
    )
    .orderBy('v.secret_id')
    .forUpdate(),
);

/**
 * Locks secrets until the transaction ends, including deleted ones: for these the latest version is the lock, so that
 * one caller at a time restores a secret.
 */
export async function lockHistories(tx: Transaction, ids: readonly string[]): Promise<void> {
  await lockByIds(tx, { ids });
  await holdDeleted(tx, { ids });
  // What another caller restored while this one waited.
  await lockByIds(tx, { ids });
}
