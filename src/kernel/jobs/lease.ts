import { type Context, isTransaction, type Transaction } from '../context.js';
import { queryOf } from '../database/database.js';
import { inTransaction } from '../database/in-transaction.js';
import type { RowFrom } from '../database/statement.js';
import { NO_ID } from '../ids.js';
import { type claimJobs, endAttempt, extendAndLockLease } from './job.sql.js';
import { type JobKind, type JobRun, LeaseLost, PermanentFailure } from './job-kind.js';

/** Why an attempt ended that another node has taken over, or may have. */
export const LEASE_LOST = 'JOB_LEASE_LOST';
const DEFAULT_LEASE_SECONDS = 30;
const DEFAULT_LIMIT_SECONDS = 600;
/** Over a call's own time limit, so that its outcome can still be written. */
const RESERVE_SECONDS = 5;
/** What a transaction of a job may take; the database ends longer ones. */
const TRANSACTION_SECONDS = 20;

/** How long a node keeps a job of a kind from others without renewing its lease. */
export const leaseOf = ({ leaseSeconds = DEFAULT_LEASE_SECONDS }: JobKind): number => leaseSeconds;

/** A job as it was claimed. */
export type ClaimedRow = RowFrom<typeof claimJobs>;

/** The right of this node to run a job for a limited time. Nothing is written for the job after the lease has expired. */
export class Lease {
  /** On this node's monotonic clock, in milliseconds. */
  readonly renewedUntil: number;
  readonly ctx: Context;
  private readonly controller = new AbortController();

  constructor(
    readonly kind: JobKind,
    readonly row: ClaimedRow,
    private readonly contextOf: (organizationId: string) => Context,
  ) {
    this.renewedUntil = performance.now() + (kind.limitSeconds ?? DEFAULT_LIMIT_SECONDS) * 1_000;
    this.ctx = contextOf(row.organizationId ?? NO_ID);
  }

  /** What its handler gets. */
  get run(): JobRun {
    const { row, contextOf, signal } = this;
    return {
      ...{ ...row, jobId: row.id, queuedAt: row.createdAt, attempt: row.attempts, signal, contextOf },
      inTransaction: (work, ctx) => this.inTransaction(work, ctx),
      reserve: (seconds) => this.reserve(seconds),
    };
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

  private inTransaction<T>(work: (tx: Transaction) => Promise<T>, ctx = this.ctx): Promise<T> {
    return inTransaction(ctx, async (tx) => {
      await this.hold(tx, TRANSACTION_SECONDS);
      return work(tx);
    });
  }

  private async reserve(seconds: number): Promise<void> {
    for (let isSure = false; !isSure; ) {
      if (this.signal.aborted) throw new LeaseLost();
      const asked = performance.now();
      await this.hold(this.ctx, seconds + RESERVE_SECONDS);
      // A node that stood still until now knows only what held when it asked.
      isSure = performance.now() - asked < (RESERVE_SECONDS * 1_000) / 2;
    }
  }

  private async hold(ctx: Context, seconds: number): Promise<void> {
    const { id, fence } = this.row;
    const held = await extendAndLockLease(queryOf(ctx), { id, fence, seconds });
    if (held.length > 0) return;
    // A transaction that continues must not commit.
    if (!isTransaction(ctx)) this.abort();
    throw new LeaseLost();
  }

  /**
   * Ends the attempt. With `released`, another node may take the job.
   *
   * @param pauseSeconds until it is tried again, or has more to do; null: never, or at once if it is released
   * @param errorCode why it failed, or what it waits for
   * @returns false when the lease was over, and nothing was written
   */
  async end(
    outcome: 'done' | 'failed' | 'released',
    pauseSeconds: number | null = null,
    errorCode: string | null = null,
  ): Promise<boolean> {
    const { id, fence } = this.row;
    const ended = await endAttempt(this.ctx, { id, fence, outcome, pauseSeconds, errorCode });
    return ended.length > 0;
  }
}
