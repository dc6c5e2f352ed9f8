import { type Context, isTransaction, type Transaction } from '../../../kernel/context.js';
import { inTransaction } from '../../../kernel/database/in-transaction.js';
import type { Again, JobRun } from '../../../kernel/jobs/job-kind.js';
import { wakeWaiting } from '../../../kernel/jobs/queue.js';
import { claimProbe, storeNoResponse } from './connection.sql.js';
import type { TargetFailure } from './kind/target-failure.js';
import { UnresponsiveTarget } from './unresponsive-target.entity.js';

/** Failures of a system that did not respond, and those that say nothing of it. With any other it has responded. */
const UNRESPONSIVE: readonly string[] = ['TARGET_UNREACHABLE', 'TARGET_TIMED_OUT'];
const INCONCLUSIVE: readonly string[] = ['TARGET_RESPONSE_INVALID', 'TOOL_MISSING'];
/** Jobs that waited for the same trial look at its result one after the other. */
const SPREAD_SECONDS = 5;
/** A system may not ask to be left alone for longer. */
const LONGEST_SECONDS = 86_400;

/** A result of a call: why it failed, or null, and how long it took. */
interface CallResult {
  readonly failure: Pick<TargetFailure, 'code' | 'retryAfterSeconds'> | null;
  /** Of `performance.now()`, before the call. */
  readonly since: number;
}

/**
 * The external system that a job calls. One that did not respond is left alone for pauses that grow, by all jobs of the organization and
 * on all nodes; after each pause one job tries it. A job that somebody waits for tries it at once.
 */
export class CalledTarget {
  private hasFailed = false;

  private constructor(
    private readonly ctx: Context,
    private readonly target: string | null,
    /** Whether it did not respond to the last call that anybody has recorded. */
    public isUnresponsive: boolean,
    /** What the job returns instead of calling the system; null: it may call. */
    readonly pause: Again | null,
  ) {}

  /** @param trialSeconds after which a trial of this job must have ended */
  static async of(
    ctx: Context,
    { target, isUrgent }: Pick<JobRun, 'target' | 'isUrgent'>,
    trialSeconds: number,
  ): Promise<CalledTarget> {
    if (target === null) return new CalledTarget(ctx, null, false, null);
    const { organizationId } = ctx;
    const [known] = await claimProbe(ctx, { organizationId, target, trialSeconds });
    const seconds = isUrgent ? 0 : (known?.seconds ?? 0);
    const pause: Again = {
      againInSeconds: seconds + Math.random() * SPREAD_SECONDS,
      waitsFor: 'TARGET_UNRESPONSIVE',
    };
    return new CalledTarget(ctx, target, known !== undefined, seconds > 0 ? pause : null);
  }

  /** Records whether the system responded to a call. Never in the transaction that stores what came of the call. */
  async record({ failure, since }: CallResult): Promise<void> {
    if (this.target === null || INCONCLUSIVE.includes(failure?.code ?? '')) return;
    const isResponse = failure === null || !UNRESPONSIVE.includes(failure.code);
    // Of one job, several calls without a response count as one.
    if (isResponse ? !this.isUnresponsive : this.hasFailed) return;
    this.isUnresponsive = !isResponse;
    this.hasFailed = !isResponse;
    await recordResponse(this.ctx, this.target, { failure, since });
  }
}

/** Records whether an external system of the organization responded to a call. Jobs that wait for it run when it does. */
export async function recordResponse(ctx: Context, target: string, { failure, since }: CallResult): Promise<void> {
  const { organizationId } = ctx;
  if (INCONCLUSIVE.includes(failure?.code ?? '')) return;
  if (failure === null || !UNRESPONSIVE.includes(failure.code)) {
    const clear = async (tx: Transaction): Promise<void> => {
      const deleted = await tx.em.nativeDelete(UnresponsiveTarget, { organizationId, target });
      if (deleted > 0) await wakeWaiting(tx, { organizationId, target, reason: 'TARGET_UNRESPONSIVE' });
    };
    return isTransaction(ctx) ? clear(ctx) : inTransaction(ctx, clear);
  }
  const retryAfterSeconds = Math.min(Math.ceil(failure.retryAfterSeconds ?? 0), LONGEST_SECONDS);
  const tookSeconds = (performance.now() - since) / 1_000;
  await storeNoResponse(ctx, { organizationId, target, errorCode: failure.code, retryAfterSeconds, tookSeconds });
}
