import { LockMode, raw as sql } from '@mikro-orm/core';
import type { Context, Transaction } from '../../../kernel/context.js';
import { DataKey } from '../../../kernel/crypto/keys.entity.js';
import { keyIdOf, type SealPlace } from '../../../kernel/crypto/seal.js';
import type { SealedTable } from '../../../kernel/crypto/sealed-table.js';
import { openedOrNull } from '../../../kernel/crypto/sealed-text.js';
import type { Sealer } from '../../../kernel/crypto/sealer.js';
import { emOf, queryOf } from '../../../kernel/database/database.js';
import { flush } from '../../../kernel/database/in-transaction.js';
import { NO_ID } from '../../../kernel/ids.js';
import type { Again, JobKind, JobRun } from '../../../kernel/jobs/job-kind.js';
import { ProjectReencryption } from './project-reencryption.entity.js';
import {
  changeState,
  findReencryptions,
  isSettled,
  lockProjectKey,
  type ReencryptionRow,
  reencryptionStatementsOf,
  scanStatementOf,
  settle,
} from './project-reencryption.sql.js';

/** Pause between looks whether the last transactions of before have ended. */
const SETTLING_AGAIN: Again = { againInSeconds: 30 };
/** Other jobs get their turn. */
const AT_ONCE: Again = { againInSeconds: 0 };
const LIMIT_SECONDS = 3_600;

/** Seals values of projects anew. @param tables all that have sealed columns of projects */
export function reencryptJob(tables: readonly SealedTable[]): JobKind {
  const rows = rowsOf(tables);

  /** The old keys are destroyed when nothing names them any more, and nobody who began before can still write or read it. */
  const end = (run: JobRun, row: ReencryptionRow): Promise<undefined> =>
    run.inTransaction(async (tx) => {
      const { id, organizationId, projectId } = row;
      await lockProjectKey(tx, { projectId });
      const working = await holdWorking(tx, id);
      if (working === null) return undefined;
      const unreadable = working.passUnreadable;
      const scope = { organizationId, projectId };
      // Those that were retired when the last pass began.
      const retiredAt = { $lte: working.settlingSince ?? null };
      const keys = await tx.em.find(DataKey, { ...scope, retiredAt, destroyedAt: null }, { fields: ['id'] });
      const settled = new Set(keys.map((key) => key.id));
      const destroyed = unreadable === 0 ? await tx.keyring.destroyRetiredKeys(queryOf(tx), scope, settled) : 0;
      tx.em.assign(working, {
        state: 'done',
        unreadableValues: unreadable,
        totalValues: working.doneValues + unreadable,
        destroyedKeys: destroyed,
        finishedAt: sql('now()'),
        updatedAt: sql('now()'),
      });
      await flush(tx);
      await tx.auditTrail.recordChange(tx, {
        action: 'project-reencryption:finish',
        projectId,
        facts: { projectReencryptionId: id, unreadable, destroyed },
      });
      return undefined;
    });

  const work = async (ctx: Context, run: JobRun, row: ReencryptionRow): Promise<Again | undefined> => {
    const isSettling = row.state === 'settling';
    if (isSettling && (await isSettled(ctx, { id: row.id }))[0]?.isSettled !== true) return SETTLING_AGAIN;
    // Else this node might seal with the former key.
    await ctx.keyring.untilSeen();
    if (row.totalValues === null) {
      const total = await countPending(ctx, run, { tables: rows, row });
      if (total === null) return undefined;
      await run.inTransaction((tx) =>
        tx.em.nativeUpdate(
          ProjectReencryption,
          { id: row.id, totalValues: null },
          { totalValues: total, updatedAt: sql('now()') },
        ),
      );
    }
    const progress = await continuePass(ctx, run, { tables: rows, row });
    if (progress !== 'complete') return progress === 'more' ? AT_ONCE : undefined;
    const [pass] = await findReencryptions(ctx, { ids: [row.id] });
    if (isSettling && pass?.passDone === 0) return end(run, row);
    await run.inTransaction((tx) => settle(tx, { id: row.id }));
    return SETTLING_AGAIN;
  };

  return {
    name: 'project-reencryptions:reencrypt',
    description: 'Encrypts the values of a project with its newest key, and destroys the former keys.',
    staysInside: true,
    concurrencyPerOrganization: 2,
    limitSeconds: LIMIT_SECONDS,
    // Otherwise it would be shown as running, and nothing would continue it.
    onCancel: async (tx, { subjectId }) => {
      const [row] = await findReencryptions(tx, { ids: [subjectId ?? NO_ID] });
      if (row === undefined) return;
      const { id, projectId } = row;
      if ((await changeState(tx, { id, projectId, state: 'paused' })).length === 0) return;
      await tx.auditTrail.recordChange(tx, {
        action: 'project-reencryption:pause',
        projectId,
        facts: { projectReencryptionId: id },
      });
    },
    run: async (ctx, run) => {
      const [row] = await findReencryptions(ctx, { ids: [run.subjectId ?? NO_ID] });
      if (row === undefined || !['running', 'settling'].includes(row.state)) return undefined;
      return work(ctx, run, row);
    },
  };
}

/** Values that a transaction seals anew. */
const VALUES_AT_ONCE = 200;
/** Rows that a statement looks at. */
const ROWS_AT_ONCE = 2_000;
/** Transactions of one run of the job. The next run goes on where it ended, and other jobs get their turn. */
const STEPS_OF_RUN = 5_000;
const START: Position = { afterId: NO_ID, afterPart: -1 };

/** A row, in the order of a walk through a table. */
interface Position {
  readonly afterId: string;
  readonly afterPart: number;
}

/** A table with sealed columns, and its statements. */
interface SealedRows {
  readonly table: SealedTable;
  readonly scan: ReturnType<typeof scanStatementOf>;
  readonly columns: readonly SealedColumn[];
}

interface SealedColumn {
  readonly table: SealedTable;
  readonly column: string;
  readonly statements: ReturnType<typeof reencryptionStatementsOf>;
}

/** Tables with their statements. */
const rowsOf = (tables: readonly SealedTable[]): readonly SealedRows[] =>
  tables.map((table) => ({
    table,
    scan: scanStatementOf(table),
    columns: Object.keys(table.columns).map((column) => ({
      table,
      column,
      statements: reencryptionStatementsOf(table, column),
    })),
  }));

/** Which values: those of a project that retired keys of it sealed. */
async function pendingIn(ctx: Context, { organizationId, projectId }: ReencryptionRow) {
  const retired = { organizationId, projectId, retiredAt: { $ne: null }, destroyedAt: null };
  const keys = await emOf(ctx).find(DataKey, retired, { fields: ['id'] });
  // As they stand in what they sealed.
  return { projectId, keys: keys.map(({ id }) => Buffer.from(id.replaceAll('-', ''), 'hex')) };
}

/** How many values retired keys of a project sealed, in statements that look at a bounded number of rows. Null: it was stopped. */
async function countPending(
  ctx: Context,
  run: JobRun,
  { tables, row }: { readonly tables: readonly SealedRows[]; readonly row: ReencryptionRow },
): Promise<number | null> {
  const pending = await pendingIn(ctx, row);
  let total = 0;
  for (const { scan } of tables) {
    for (let after: Position | null = START; after !== null; ) {
      if (run.signal.aborted) return null;
      const [seen] = await scan(ctx, { ...pending, ...after, most: ROWS_AT_ONCE });
      total += seen?.pending ?? 0;
      after = positionOf(seen);
    }
  }
  return total;
}

/** How a pass over all values went on. `stopped`: it was paused or cancelled, or the node stops. */
type Progress = 'complete' | 'more' | 'stopped';

/**
 * Goes on with the pass of a re-encryption: seals everything anew that retired keys of a project sealed, in batches with a commit each.
 * Where it is stays in the row, with what the pass has done so far.
 */
async function continuePass(
  ctx: Context,
  run: JobRun,
  { tables, row }: { readonly tables: readonly SealedRows[]; readonly row: ReencryptionRow },
): Promise<Progress> {
  const { passTable, passRowId, passPart } = row;
  const position = passRowId === null || passPart === null ? START : { afterId: passRowId, afterPart: passPart };
  const begun = tables.findIndex(({ table }) => table.table === passTable);
  let steps = 0;
  for (const rows of tables.slice(Math.max(begun, 0))) {
    for (let after: Position | null = rows.table.table === passTable ? position : START; after !== null; ) {
      const from: Position = after;
      const [seen] = await rows.scan(ctx, { ...(await pendingIn(ctx, row)), ...from, most: ROWS_AT_ONCE });
      after = positionOf(seen);
      if (after === null) continue;
      const stretch = await reencryptStretch(run, rows, { row, from, to: after, isEmpty: seen?.pending === 0 });
      if (stretch === null) return 'stopped';
      steps += stretch.steps;
      if (steps >= STEPS_OF_RUN) return 'more';
    }
  }
  return 'complete';
}

const positionOf = (seen: { readonly id: string; readonly part: number } | undefined): Position | null =>
  seen === undefined ? null : { afterId: seen.id, afterPart: seen.part };

const working = (id: string) => ({ id, state: { $in: ['running' as const, 'settling' as const] } });

/** Holds a re-encryption: it is neither paused nor cancelled until the transaction ends. Null when it does not work. */
const holdWorking = (tx: Transaction, id: string): Promise<ProjectReencryption | null> =>
  tx.em.findOne(ProjectReencryption, working(id), { lockMode: LockMode.PESSIMISTIC_WRITE });

interface Stretch {
  readonly row: ReencryptionRow;
  readonly from: Position;
  /** Its last row. */
  readonly to: Position;
  /** Whether nothing in it waits. */
  readonly isEmpty: boolean;
}

/** Seals what waits in a stretch of rows, and stores that it is done. Null: paused, cancelled or stopped. */
async function reencryptStretch(
  run: JobRun,
  { table, columns }: SealedRows,
  stretch: Stretch,
): Promise<{ readonly steps: number } | null> {
  const { row, to, isEmpty } = stretch;
  let steps = 1;
  let unreadable = 0;
  for (const column of isEmpty ? [] : columns) {
    for (let after: Position | null = stretch.from; after !== null; ) {
      if (run.signal.aborted) return null;
      const from: Position = after;
      const batch: Batch | null = await run.inTransaction((tx) => reencryptBatch(tx, column, { row, from, to }));
      if (batch === null) return null;
      steps += 1;
      unreadable += batch.unreadable;
      after = batch.next;
    }
  }
  if (run.signal.aborted) return null;
  const stored = await run.inTransaction((tx) =>
    tx.em.nativeUpdate(ProjectReencryption, working(row.id), {
      passTable: table.table,
      passRowId: to.afterId,
      passPart: to.afterPart,
      passUnreadable: sql('pass_unreadable + ?', [unreadable]),
      updatedAt: sql('now()'),
    }),
  );
  return stored === 0 ? null : { steps };
}

interface Batch {
  /** Values that do not open, and were left as they are. */
  readonly unreadable: number;
  /** Null: there are no more. */
  readonly next: Position | null;
}

async function reencryptBatch(
  tx: Transaction,
  { table, column, statements }: SealedColumn,
  { row, from, to }: Pick<Stretch, 'row' | 'from' | 'to'>,
): Promise<Batch | null> {
  const locked = await holdWorking(tx, row.id);
  if (locked === null) return null;
  const end = { lastId: to.afterId, lastPart: to.afterPart };
  const found = await statements.next(tx, { ...(await pendingIn(tx, row)), ...from, ...end, most: VALUES_AT_ONCE });
  const last = found.at(-1);
  if (last === undefined) return { unreadable: 0, next: null };
  const scope = { organizationId: row.organizationId, projectId: row.projectId };
  await tx.keyring.ensureKeys(queryOf(tx), scope, new Set(found.map(({ sealed }) => keyIdOf(sealed))));
  const sealer = await tx.keyring.sealer(queryOf(tx), scope);
  await sealer.reserve(found.length);
  const anew = found.flatMap((value) => {
    const place = { table: table.place ?? table.table, column, rowId: value.id, rowVersion: value.version };
    const fresh = reseal(sealer, place, value.sealed);
    return fresh === null ? [] : [{ ...value, fresh }];
  });
  const stored = await statements.store(tx, {
    ids: anew.map(({ id }) => id),
    parts: anew.map(({ part }) => part),
    former: anew.map(({ sealed }) => sealed),
    fresh: anew.map(({ fresh }) => fresh),
  });
  const doneValues = locked.doneValues + anew.length;
  // Transactions that began before the new key may have added values to those that were counted first.
  const totalValues = Math.max(locked.totalValues ?? 0, doneValues);
  tx.em.assign(locked, { doneValues, totalValues, passDone: locked.passDone + anew.length, updatedAt: sql('now()') });
  await flush(tx);
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
  return { unreadable: found.length - anew.length, next: { afterId: last.id, afterPart: last.part } };
}

/** Null when it does not open. */
function reseal(
  sealer: Sealer,
  place: Omit<SealPlace, 'organizationId' | 'projectId'>,
  sealed: Uint8Array,
): Buffer | null {
  const opened = openedOrNull(() => sealer.open(place, sealed));
  return opened && sealer.seal(place, opened);
}
