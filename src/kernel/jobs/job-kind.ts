import type { Context, Transaction } from '../context.js';

/** When a failed job is tried again. */
export interface RetryPolicy {
  /** Pause before the second attempt. It doubles with each further one. */
  readonly firstSeconds: number;
  readonly longestSeconds: number;
  /** How often it is tried in all. */
  readonly attempts: number;
  /** How long after it was queued it is given up whatever its attempts. Absent: never. */
  readonly giveUpSeconds?: number;
}

/** A kind of background work. A slice declares its kinds in its `index.ts`. */
export interface JobKind {
  /** Slice and task: `jobs:delete-finished`. It is stored in the database: never rename a released one. */
  readonly name: string;
  /** What the work is, for operators. */
  readonly description: string;
  /** Queues a job at every multiple of so many seconds since 1970, UTC. 86,400: at midnight. */
  readonly everySeconds?: number;
  /**
   * It neither calls an external system, changes a credential, nor signs or drops parts of the audit trail. All other kinds are
   * paused after a restore, until somebody resumes them: a copy must not act for the original.
   */
  readonly staysInside?: true;
  /** How many a node runs at the same time. Default 4. */
  readonly concurrency?: number;
  /** How many of those may be of one organization: what hangs there leaves room for others. Absent: all. */
  readonly concurrencyPerOrganization?: number;
  /** How many of those of an organization may call one external system, which may hang. Absent: all. */
  readonly concurrencyPerTarget?: number;
  /**
   * Urgent jobs have as many slots of their own, on a node and for an organization: they never wait for others. They share those of
   * targets. Without this, no job of the kind may be urgent.
   */
  readonly hasUrgentSlots?: true;
  /** How long a node that died keeps the job from others. Default 30. */
  readonly leaseSeconds?: number;
  /** How long one attempt may take in all; then its lease is not renewed any more. Default 600. */
  readonly limitSeconds?: number;
  readonly retry?: RetryPolicy;
  /**
   * Ends the work of a cancelled job, in the transaction that cancels it. For work that would otherwise stay unfinished.
   *
   * @throws AppError that names the operation to use instead; then the job is not cancelled
   */
  readonly onCancel?: (tx: Transaction, job: { readonly subjectId: string | null }) => Promise<void>;
  /**
   * Does the work, as often as it is tried: what it did in an attempt that was lost is there. Whatever it throws is a failed
   * attempt; the code of an AppError is kept, nothing else of the error. With KEY_DISABLED it has not failed: it waits for the key.
   *
   * @returns when there is more to do
   */
  readonly run: JobWork<void> | JobWork<Again | undefined>;
}

type JobWork<Result> = (ctx: Context, run: JobRun) => Promise<Result>;

/** A job that is done for now, and has more to do later. */
export interface Again {
  readonly againInSeconds: number;
  /** Why it waits without having done anything. The API shows it as the error code of the job. Absent: it has done something. */
  readonly waitsFor?: WaitReason;
}

/** Why jobs wait. What ends the reason calls `wakeWaiting`. */
export const WAIT_REASONS = ['KEY_DISABLED', 'TARGET_UNRESPONSIVE'] as const;
export type WaitReason = (typeof WAIT_REASONS)[number];

/** What a job returns that waits for a disabled key. It looks again by itself, in case that nobody wakes it. */
export const WAIT_FOR_KEY: Again = { againInSeconds: 300, waitsFor: 'KEY_DISABLED' };

/** What a handler gets beside its context: which job, and its lease. */
export interface JobRun {
  readonly jobId: string;
  /** What the work is about, as it was queued. */
  readonly subjectId: string | null;
  readonly projectId: string | null;
  /** The external system that it calls, as it was queued. */
  readonly target: string | null;
  /** Whether somebody waits for it. */
  readonly isUrgent: boolean;
  /** When it was queued, or of one that recurs, when it came due: the same for all attempts, and another for the next time. */
  readonly queuedAt: Date;
  /** 1 for the first. */
  readonly attempt: number;
  /** Aborted when the lease is lost, the job is cancelled, its time is over or the node is stopped. */
  readonly signal: AbortSignal;
  /**
   * A transaction of the job: it holds the lease until it commits. All writes of a job belong into one.
   *
   * @param ctx when it acts in another organization than the job is queued for
   * @throws LeaseLost before anything is written, when the lease is over
   */
  inTransaction<T>(work: (tx: Transaction) => Promise<T>, ctx?: Context): Promise<T>;
  /**
   * Makes sure of a lease that outlasts a call to an external system. Call it before each.
   *
   * @param seconds the time limit of the call
   * @throws LeaseLost when the lease is over: the call must not be made
   */
  reserve(seconds: number): Promise<void>;
  /** A context of the service itself in an organization, for work that is about many. */
  contextOf(organizationId: string): Context;
}

/** Somebody else has the job by now, or it was cancelled: stop, and write nothing. */
export class LeaseLost extends Error {
  constructor() {
    super('the lease of this job has expired');
  }
}

/** A failure that no further attempt would change. */
export class PermanentFailure extends Error {
  /** @param code one of ours, kept with the job */
  constructor(readonly code: string) {
    super(`permanent failure: ${code}`);
  }
}

/**
 * Pause before the next attempt: doubles with each, between half of it and all of it at random, so that jobs that failed together
 * do not come back together.
 *
 * @param failed attempts so far, 1 or more
 * @param random from 0 to 1
 * @returns seconds; null when there is no further attempt
 */
export function backoffSeconds(
  { firstSeconds, longestSeconds, attempts }: RetryPolicy,
  failed: number,
  random: number,
): number | null {
  if (failed >= attempts) return null;
  const whole = Math.min(firstSeconds * 2 ** Math.min(failed - 1, 40), longestSeconds);
  return (whole * (1 + random)) / 2;
}

const TARGET_RETRY: RetryPolicy = { firstSeconds: 30, longestSeconds: 21_600, attempts: Number.POSITIVE_INFINITY };

/**
 * Pause before an external system that has failed is called again: from half a minute to six hours, and as long as it asks for within these bounds.
 *
 * @param failed calls so far, 1 or more
 */
export function targetPauseSeconds(failed: number, requestedSeconds: number | null = null): number {
  const requested = Math.min(requestedSeconds ?? 0, TARGET_RETRY.longestSeconds);
  return Math.max(backoffSeconds(TARGET_RETRY, failed, Math.random()) ?? 0, requested);
}
