import type { Context, Transaction } from '../../kernel/context.js';
import { keyIdOf, type SealPlace } from '../../kernel/crypto/seal.js';
import type { SealedTable } from '../../kernel/crypto/sealed-table.js';
import type { Sealer } from '../../kernel/crypto/sealer.js';
import { queryOf } from '../../kernel/database/database.js';
import { AppError } from '../../kernel/errors.js';
import { NO_ID } from '../../kernel/ids.js';
import type { JobRun } from '../../kernel/jobs/job-kind.js';
import type { ReencryptionRow } from './project-reencryption.queries.js';
import { countDone, holdWorking, listRetiredKeys } from './project-reencryption.sql.js';
import { statementsOf } from './sealed-columns.sql.js';

const VALUES_AT_ONCE = 200;

/** A sealed column, with its statements. */
interface SealedColumn {
  readonly table: SealedTable;
  readonly column: string;
  readonly statements: ReturnType<typeof statementsOf>;
}

/** All sealed columns of tables. */
export const columnsOf = (tables: readonly SealedTable[]): readonly SealedColumn[] =>
  tables.flatMap((table) =>
    Object.keys(table.columns).map((column) => ({ table, column, statements: statementsOf(table, column) })),
  );

/** Which values: those of a project that retired keys of it sealed. */
async function pendingIn(ctx: Context, { organizationId, projectId }: ReencryptionRow) {
  const keys = await listRetiredKeys(ctx, { organizationId, projectId });
  return { projectId, keys: keys.map(({ key }) => key) };
}

/** How many values retired keys of a project sealed. */
export async function countPending(
  ctx: Context,
  columns: readonly SealedColumn[],
  row: ReencryptionRow,
): Promise<number> {
  const pending = await pendingIn(ctx, row);
  let total = 0;
  for (const { statements } of columns) total += (await statements.count(ctx, pending))[0]?.count ?? 0;
  return total;
}

/** What a pass over all values did. */
interface Pass {
  /** Values that were not on the newest key: sealed anew by it, or written by others meanwhile. */
  readonly done: number;
  /** Values that do not open, and were left as they are. */
  readonly unreadable: number;
}

/**
 * Seals everything anew that retired keys of a project sealed, in batches with a commit each. After an interruption the next pass does
 * what is left.
 *
 * @returns null when it was paused, cancelled or stopped
 */
export async function reencryptAll(
  run: JobRun,
  columns: readonly SealedColumn[],
  row: ReencryptionRow,
): Promise<Pass | null> {
  let pass: Pass = { done: 0, unreadable: 0 };
  for (const column of columns) {
    for (let after: Position | null = { afterId: NO_ID, afterPart: -1 }; after !== null; ) {
      if (run.signal.aborted) return null;
      const from: Position = after;
      const batch: Batch | null = await run.inTransaction((tx) => reencryptBatch(tx, column, { row, from }));
      if (batch === null) return null;
      pass = { done: pass.done + batch.done, unreadable: pass.unreadable + batch.unreadable };
      after = batch.next;
    }
  }
  return pass;
}

interface Position {
  readonly afterId: string;
  readonly afterPart: number;
}

interface Batch extends Pass {
  /** Null: there are no more. */
  readonly next: Position | null;
}

async function reencryptBatch(
  tx: Transaction,
  { table, column, statements }: SealedColumn,
  { row, from }: { readonly row: ReencryptionRow; readonly from: Position },
): Promise<Batch | null> {
  if ((await holdWorking(tx, { id: row.id })).length === 0) return null;
  const found = await statements.next(tx, { ...(await pendingIn(tx, row)), ...from, most: VALUES_AT_ONCE });
  const last = found.at(-1);
  if (last === undefined) return { done: 0, unreadable: 0, next: null };
  const scope = { organizationId: row.organizationId, projectId: row.projectId };
  await tx.keyring.ensureKeys(queryOf(tx), scope, new Set(found.map(({ sealed }) => keyIdOf(sealed))));
  const sealer = await tx.keyring.sealer(queryOf(tx), scope);
  await sealer.reserve(found.length);
  const anew = found.flatMap((value) => {
    const place = { table: table.place ?? table.table, column, rowId: value.id, rowVersion: value.version };
    const fresh = sealedAnew(sealer, place, value.sealed);
    return fresh === null ? [] : [{ ...value, fresh }];
  });
  const stored = await statements.store(tx, {
    ids: anew.map(({ id }) => id),
    parts: anew.map(({ part }) => part),
    former: anew.map(({ sealed }) => sealed),
    fresh: anew.map(({ fresh }) => fresh),
  });
  await countDone(tx, { id: row.id, done: anew.length });
  if (table.digest !== undefined && stored.length > 0) {
    const formerOf = new Map(found.map(({ id, former }) => [id, former]));
    // `verify-audit` follows the states of a version from the one that it had.
    for (const { id, version, digest } of stored) tx.states.push(`${id}:${version}:${digest}:${formerOf.get(id)}`);
    await tx.auditTrail.recordChange(tx, {
      action: 'project-reencryption:reseal',
      projectId: row.projectId,
      facts: { projectReencryptionId: row.id, count: stored.length },
    });
  }
  return {
    done: anew.length,
    unreadable: found.length - anew.length,
    next: { afterId: last.id, afterPart: last.part },
  };
}

/** Null when it does not open. */
function sealedAnew(
  sealer: Sealer,
  place: Omit<SealPlace, 'organizationId' | 'projectId'>,
  sealed: Uint8Array,
): Buffer | null {
  try {
    return sealer.seal(place, sealer.open(place, sealed));
  } catch (error) {
    if (error instanceof AppError && error.code === 'SEALED_VALUE_INVALID') return null;
    throw error;
  }
}
