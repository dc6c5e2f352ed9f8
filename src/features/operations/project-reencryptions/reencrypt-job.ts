import { raw as sql } from '@mikro-orm/core';
import type { Context } from '../../../kernel/context.js';
import { DataKey } from '../../../kernel/crypto/data-key.entity.js';
import type { SealedTable } from '../../../kernel/crypto/sealed-table.js';
import { queryOf } from '../../../kernel/database/database.js';
import { flush } from '../../../kernel/database/in-transaction.js';
import { NO_ID } from '../../../kernel/ids.js';
import type { Again, JobKind, JobRun } from '../../../kernel/jobs/job-kind.js';
import { ProjectReencryption } from './project-reencryption.entity.js';
import {
  changeState,
  findReencryptions,
  holdProjectKey,
  isSettled,
  type ReencryptionRow,
  settle,
} from './project-reencryption.queries.js';
import { countPending, goOn, holdWorking, rowsOf } from './reencrypting.js';

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
      await holdProjectKey(tx, { projectId });
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
    const progress = await goOn(ctx, run, { tables: rows, row });
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
