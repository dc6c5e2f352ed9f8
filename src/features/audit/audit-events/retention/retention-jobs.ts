import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { StoredAuditExpiry } from '../../../../kernel/audit/audit.entity.js';
import { PREPARE_PARTITIONS, type Retention } from '../../../../kernel/audit/retention.js';
import type { Context } from '../../../../kernel/context.js';
import { inTransaction, sqlState } from '../../../../kernel/database/in-transaction.js';
import { databaseNow } from '../../../../kernel/database/now.sql.js';
import type { JobKind, JobRun } from '../../../../kernel/jobs/job-kind.js';
import { rerecordStates } from '../../../secrets/public.js';
import { addPartition, dropPartition, listEndedMonths, listEnding, listMissingMonths } from './retention.sql.js';

const HOUR_SECONDS = 3_600;
const ROWS_AT_ONCE = 5_000;
const DROP_TRIES = 100;
const DROP_PAUSE_MS = 3_000;
const LOCK_NOT_AVAILABLE = '55P03';

/** Makes partitions for the months in which rows end that are recorded from now on. At every start, and by a job. */
export const preparePartitions =
  (retention: Retention) =>
  async (ctx: Context): Promise<void> => {
    const days = [retention.days, retention.browseDays].flatMap((each) => each ?? []);
    for (const { month } of await listMissingMonths(ctx, { days }))
      await inTransaction(ctx, (tx) => addPartition(tx, { month }));
  };

/** The jobs of the audit trail: they make partitions for the months to come, and drop those that are past. */
export const retentionJobs = (retention: Retention): readonly JobKind[] => [
  {
    name: PREPARE_PARTITIONS,
    description: 'Creates partitions of the audit trail for the months in which records expire.',
    staysInside: true,
    everySeconds: HOUR_SECONDS,
    run: preparePartitions(retention),
  },
  {
    name: 'audit:expire',
    description: 'Drops partitions of the audit trail whose records have expired.',
    everySeconds: HOUR_SECONDS,
    concurrency: 1,
    limitSeconds: 6 * HOUR_SECONDS,
    run: async (ctx, run) => {
      for (const { month } of await listEndedMonths(ctx, {})) await expire(ctx, run, month);
    },
  },
];

/**
 * Signs what the rows of a month are, and drops them. What happened to them before shows in the signature: the verifier computes the
 * same digest from the seals.
 */
async function expire(ctx: Context, run: JobRun, month: string): Promise<void> {
  const { digest, rows, counts } = await readMonth(ctx, run, month);
  const expiredAt = await databaseNow(ctx);
  const { mac } = ctx.auditChain.expire({
    ...{ expiresOn: month, rows: BigInt(rows), digest },
    expiredAt: String(expiredAt.getTime()),
  });
  const drop = () =>
    run.inTransaction(async (tx) => {
      for (const [organizationId, { count, newest }] of counts)
        await tx.auditTrail.recordChange(
          { ...tx, organizationId },
          {
            action: 'audit-trail:expire',
            facts: { month, count, newest: new Date(newest).toISOString() },
            isKept: true,
          },
        );
      await tx.em.insert(StoredAuditExpiry, { expiresOn: month, rows: String(rows), digest, expiredAt, mac });
      // Last: from here until the commit all who write to the trail wait.
      await dropPartition(tx, { month });
    });
  for (let tries = 1; ; tries += 1) {
    try {
      return await drop();
    } catch (error) {
      // Somebody reads the trail, as `verify-audit` does for minutes.
      if (sqlState(error) !== LOCK_NOT_AVAILABLE || tries === DROP_TRIES) throw error;
      await delay(DROP_PAUSE_MS, undefined, { signal: run.signal });
    }
  }
}

interface Month {
  readonly digest: Buffer;
  readonly rows: number;
  /** By organization: how many, and when the last of them was made, in milliseconds. */
  readonly counts: ReadonlyMap<string, { readonly count: number; readonly newest: number }>;
}

/** Reads all rows of a month, which nobody adds to any more, and records anew what has to be kept of them. */
async function readMonth(ctx: Context, run: JobRun, month: string): Promise<Month> {
  const hash = createHash('sha256');
  const counts = new Map<string, { readonly count: number; readonly newest: number }>();
  let rows = 0;
  for (let after = String(-(2n ** 63n)), isMore = true; isMore; ) {
    run.signal.throwIfAborted();
    const found = await listEnding(ctx, { month, after, most: String(ROWS_AT_ONCE) });
    for (const { sequence, organizationId, time, mac } of found) {
      hash.update(ctx.auditChain.entryOf({ sequence: BigInt(sequence), occurredAt: time, expiresOn: month, mac }));
      const { count, newest } = counts.get(organizationId) ?? { count: 0, newest: 0 };
      counts.set(organizationId, { count: count + 1, newest: Math.max(newest, Number(time)) });
    }
    const upTo = found.at(-1)?.sequence ?? after;
    for (const { organizationId, events } of found.length === 0
      ? []
      : await rerecordStates(ctx, { month, after, upTo }))
      await run.inTransaction((tx) => tx.auditTrail.recordChange(tx, ...events), run.contextOf(organizationId));
    rows += found.length;
    after = upTo;
    isMore = found.length === ROWS_AT_ONCE;
  }
  return { digest: hash.digest(), rows, counts };
}
