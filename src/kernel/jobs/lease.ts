import { type Context, isTransaction, type Transaction } from '../context.js';
import { queryOf } from '../database/database.js';
import { inTransaction } from '../database/in-transaction.js';
import { endAttempt, holdLease } from './job.sql.js';
import { type JobRun, LeaseLost, PermanentFailure } from './job-kind.js';

/** Why an attempt ended that another node has taken over, or may have. */
export const LEASE_LOST = 'JOB_LEASE_LOST';
/** Over a call's own time limit, so that its outcome can still be written. */
const RESERVE_SECONDS = 5;
/** What a transaction of a job may take; the database ends longer ones. */
const TRANSACTION_SECONDS = 20;

/** A job as it was claimed. */
export interface ClaimedJob {
  readonly id: string;
  readonly fence: string;
  readonly subjectId: string | null;
  readonly projectId: string | null;
  readonly target: string | null;
  readonly isUrgent: boolean;
  readonly createdAt: Date;
  readonly attempts: number;
}

/** The right of one node to run a job for a limited time. Nothing is written for the job after the lease has expired. */
export class Lease implements JobRun {
  readonly jobId: string;
  readonly subjectId: string | null;
  readonly projectId: string | null;
  readonly target: string | null;
  readonly isUrgent: boolean;
  readonly queuedAt: Date;
  readonly attempt: number;
  readonly fence: string;
  private readonly controller = new AbortController();

  constructor(
    readonly ctx: Context,
    { id, fence, subjectId, projectId, target, isUrgent, createdAt, attempts }: ClaimedJob,
    readonly contextOf: (organizationId: string) => Context,
  ) {
    this.jobId = id;
    this.fence = fence;
    this.subjectId = subjectId;
    this.projectId = projectId;
    this.target = target;
    this.isUrgent = isUrgent;
    this.queuedAt = createdAt;
    this.attempt = attempts;
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Lets the handler know that it should stop. @param code why the attempt fails, if the lease still holds */
  abort(code = LEASE_LOST): void {
    this.controller.abort(new PermanentFailure(code));
  }

  /** Why it was aborted; null when it was not. */
  get abortCode(): string | null {
    return this.signal.aborted ? (this.signal.reason as PermanentFailure).code : null;
  }

  inTransaction<T>(work: (tx: Transaction) => Promise<T>, ctx = this.ctx): Promise<T> {
    return inTransaction(ctx, async (tx) => {
      await this.hold(tx, TRANSACTION_SECONDS);
      return work(tx);
    });
  }

  async reserve(seconds: number): Promise<void> {
    for (let isSure = false; !isSure; ) {
      if (this.signal.aborted) throw new LeaseLost();
      const asked = performance.now();
      await this.hold(this.ctx, seconds + RESERVE_SECONDS);
      // A node that stood still until now knows only what held when it asked.
      isSure = performance.now() - asked < (RESERVE_SECONDS * 1_000) / 2;
    }
  }

  /**
   * Ends the attempt.
   *
   * @param pauseSeconds until it is tried again, or has more to do; null: never
   * @param errorCode why it failed, or what it waits for
   * @returns false when the lease was over, and nothing was written
   */
  async end(
    outcome: 'done' | 'failed' | 'released',
    { pauseSeconds = null, errorCode = null }: { pauseSeconds?: number | null; errorCode?: string | null } = {},
  ): Promise<boolean> {
    const ended = await endAttempt(this.ctx, {
      id: this.jobId,
      fence: this.fence,
      outcome,
      pauseSeconds,
      errorCode,
    });
    return ended.length > 0;
  }

  /** Gives the job back unfinished: another node may take it at once. */
  async release(): Promise<void> {
    await this.end('released');
    this.abort('JOB_RELEASED');
  }

  private async hold(ctx: Context, seconds: number): Promise<void> {
    const held = await holdLease(queryOf(ctx), { id: this.jobId, fence: this.fence, seconds });
    if (held.length > 0) return;
    // A transaction that continues must not commit.
    if (!isTransaction(ctx)) this.abort();
    throw new LeaseLost();
  }
}
