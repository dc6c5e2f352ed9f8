import { setTimeout as delay } from 'node:timers/promises';
import type { Context } from '../context.js';
import { isKeyDisabled } from '../crypto/unreadable.js';
import { inBackground } from '../database/background.js';
import type { Database } from '../database/database.js';
import { AppError } from '../errors.js';
import { NO_ID, newId } from '../ids.js';
import { describeError, type Log } from '../log.js';
import { periodically } from '../periodic.js';
import { runAs } from '../running.js';
import { inSpan, type SpanStart } from '../tracing/spans.js';
import { backoffSeconds } from './backoff.js';
import { claimJobs, fullOf, queueScheduled, registerKinds, renewLeases, secondsToNext } from './job.sql.js';
import { type Again, type JobKind, PermanentFailure, type RetryPolicy, WAIT_FOR_KEY } from './job-kind.js';
import { type ClaimedJob, Lease } from './lease.js';

const POLL_MS = 5_000;
const DEFAULT_CONCURRENCY = 4;
const DEFAULT_LEASE_SECONDS = 30;
const DEFAULT_LIMIT_SECONDS = 600;
const DEFAULT_RETRY: RetryPolicy = { firstSeconds: 30, longestSeconds: 21_600, attempts: 10 };
/** How long a node that leaves waits for its jobs. Then it gives them back. */
const FINISH_MS = 3_000;
/** A wake-up that is sooner comes too late to be stored. */
const SOON_SECONDS = 0.05;

/** What a runner works with. */
export interface RunnerParts {
  readonly database: Database;
  readonly kinds: readonly JobKind[];
  readonly contextOf: (organizationId: string) => Context;
  readonly log: Log;
  /** True once the node takes no new work. */
  readonly isLeaving?: () => boolean;
  /** Called with the seconds until something is due. */
  readonly onNext?: (seconds: number) => void;
  readonly pollMs?: number;
}

/** What a node has done since its start. */
export interface JobFigures {
  /** Jobs that run now. */
  readonly running: number;
  /** Attempts that ended, by kind and outcome. */
  readonly attempts: readonly {
    readonly kind: string;
    readonly outcome: 'done' | 'failed' | 'lost';
    readonly count: number;
  }[];
}

interface Running {
  readonly kind: JobKind;
  readonly organizationId: string | null;
  readonly target: string | null;
  readonly isUrgent: boolean;
  readonly lease: Lease;
  /** On this node's monotonic clock, in milliseconds. */
  readonly renewedUntil: number;
  ended: Promise<void>;
}

/**
 * Does jobs on this node: takes what is due, renews the leases of what runs, and writes down how it ended. It looks when it is woken
 * and every five seconds; what is due, and who has it, the rows alone decide, by the clock of the database.
 */
export class JobRunner {
  private readonly node = newId();
  private readonly running = new Map<string, Running>();
  private readonly kinds: ReadonlyMap<string, JobKind>;
  private readonly names: readonly string[];
  private readonly counts = new Map<string, { kind: string; outcome: 'done' | 'failed' | 'lost'; count: number }>();
  private stopPeriods: (() => Promise<void>)[] = [];
  private looking: Promise<void> | null = null;
  private isAskedAgain = false;
  private isStopped = false;

  constructor(private readonly parts: RunnerParts) {
    this.kinds = new Map(parts.kinds.map((kind) => [kind.name, kind]));
    this.names = [...this.kinds.keys()];
  }

  /** Begins to look for jobs. */
  async start(): Promise<void> {
    const { database, kinds, log, pollMs = POLL_MS } = this.parts;
    const every = kinds.map(({ everySeconds = null }) => everySeconds);
    await registerKinds(database.query, { names: this.names, every });
    const shortest = Math.min(...kinds.map(leaseOf));
    this.stopPeriods = [
      periodically('jobs', pollMs, async () => this.wake(), log),
      periodically('job leases', (shortest * 1_000) / 3, () => this.renew(), log),
    ];
    this.wake();
  }

  /** Looks for jobs now, or right after the look that is under way. */
  readonly wake = (): void => {
    this.isAskedAgain = true;
    if (this.looking !== null) return;
    this.looking = this.look()
      .catch((error: unknown) => this.parts.log.warn('job poll failed', describeError(error)))
      .finally(() => {
        this.looking = null;
      });
  };

  /** What this node has done. */
  get figures(): JobFigures {
    return { running: this.running.size, attempts: [...this.counts.values()] };
  }

  /** Takes no further job, waits a little for those that run, and gives the others back. */
  async stop(finishMs = FINISH_MS): Promise<void> {
    this.isStopped = true;
    await Promise.all(this.stopPeriods.map((stop) => stop()));
    await this.looking;
    const ended = Promise.all([...this.running.values()].map((job) => job.ended));
    const isInTime = await Promise.race([ended.then(() => true), delay(finishMs, false, { ref: false })]);
    if (isInTime) return;
    await Promise.all([...this.running.values()].map(({ lease }) => lease.release()));
  }

  private async look(): Promise<void> {
    const { database, isLeaving = () => false, onNext } = this.parts;
    while (this.isAskedAgain && !this.isStopped && !isLeaving()) {
      this.isAskedAgain = false;
      await database.withConnection(async (query) => {
        await queueScheduled(query, { names: this.names });
        const claimed = await claimJobs(query, { node: this.node, ...this.room() });
        for (const job of claimed) this.begin(job);
        // There may be room for further ones, of other organizations and targets.
        if (claimed.some(({ kind }) => hasShares(this.kinds.get(kind)))) this.isAskedAgain = true;
        const [next] = onNext === undefined ? [] : await secondsToNext(query, { names: this.names });
        if (next?.seconds != null && next.seconds > SOON_SECONDS) onNext?.(next.seconds);
      });
    }
  }

  /** Kinds that may begin further jobs on this node, how many of each, how long they are leased, and who may have no more of them. */
  private room(): { names: string[]; areUrgent: boolean[]; slots: number[]; leases: number[]; full: string[] } {
    // One that hangs after its lease has ended must not keep its kind from this node.
    const running = [...this.running.values()].filter(({ lease }) => !lease.signal.aborted);
    const byKind = Map.groupBy(running, ({ kind }) => kind.name);
    const rooms = this.parts.kinds.flatMap((kind) => roomsOf(kind, byKind.get(kind.name) ?? []));
    const free = rooms.filter(({ slots }) => slots > 0);
    return {
      names: free.map(({ kind }) => kind.name),
      areUrgent: free.map(({ isUrgent }) => isUrgent),
      slots: free.map(({ slots }) => slots),
      leases: free.map(({ kind }) => leaseOf(kind)),
      full: rooms.flatMap(({ full }) => full),
    };
  }

  private begin(claimed: ClaimedRow): void {
    const kind = this.kinds.get(claimed.kind);
    if (kind === undefined) return;
    const { contextOf } = this.parts;
    const ctx = contextOf(claimed.organizationId ?? NO_ID);
    const lease = new Lease(ctx, claimed, contextOf);
    const renewedUntil = performance.now() + (kind.limitSeconds ?? DEFAULT_LIMIT_SECONDS) * 1_000;
    const job: Running = {
      kind,
      organizationId: claimed.organizationId,
      target: claimed.target,
      isUrgent: claimed.isUrgent,
      lease,
      renewedUntil,
      ended: Promise.resolve(),
    };
    this.running.set(lease.key, job);
    job.ended = inBackground(() => this.perform(claimed, { kind, lease, ctx })).finally(() => {
      this.running.delete(lease.key);
      this.wake();
    });
  }

  private async perform(
    claimed: ClaimedRow,
    { kind, lease, ctx }: Pick<Running, 'kind' | 'lease'> & { ctx: Context },
  ): Promise<void> {
    const { log } = this.parts;
    const { retry = DEFAULT_RETRY } = kind;
    const facts = { job: lease.jobId, kind: kind.name, attempt: lease.attempt };
    try {
      const refusal = refusalOf(claimed, retry);
      if (refusal !== null) throw new PermanentFailure(refusal);
      const again = await inSpan(
        () => spanOfJob(kind),
        codeOfFailure,
        async () => runAs({ job: kind.name }, () => orWaiting(kind.run(ctx, lease))),
      );
      // What was stopped may have left something undone.
      if (lease.signal.aborted) throw lease.signal.reason;
      const pauseSeconds = again ? again.againInSeconds : null;
      const errorCode = again?.waitsFor ?? null;
      const isStored = await lease.end(errorCode === null ? 'done' : 'released', { pauseSeconds, errorCode });
      this.count(kind, isStored ? 'done' : 'lost');
    } catch (error) {
      const errorCode = lease.abortCode ?? codeOfFailure(error);
      const isFinal = lease.abortCode === null && error instanceof PermanentFailure;
      const pauseSeconds = isFinal ? null : backoffSeconds(retry, lease.attempt, Math.random());
      log.warn('job attempt failed', { ...facts, errorCode, ...describeError(error) });
      await lease
        .end('failed', { pauseSeconds, errorCode })
        .then((isStored) => this.count(kind, isStored ? 'failed' : 'lost'))
        .catch((cause: unknown) => log.warn('job result not stored', { ...facts, ...describeError(cause) }));
    }
  }

  private count({ name: kind }: JobKind, outcome: 'done' | 'failed' | 'lost'): void {
    const key = `${kind} ${outcome}`;
    const { count } = this.counts.get(key) ?? { count: 0 };
    this.counts.set(key, { kind, outcome, count: count + 1 });
  }

  /** Renews the leases of jobs that run, and stops those that lost theirs, were cancelled, or have had their time. */
  private async renew(): Promise<void> {
    const now = performance.now();
    for (const { lease, renewedUntil } of this.running.values())
      if (renewedUntil < now) lease.abort('JOB_TOOK_TOO_LONG');
    const jobs = [...this.running.values()].filter(({ lease }) => !lease.signal.aborted);
    if (jobs.length === 0) return;
    const held = await this.parts.database.withConnection((query) =>
      renewLeases(query, {
        ids: jobs.map(({ lease }) => lease.jobId),
        fences: jobs.map(({ lease }) => lease.fence),
        leases: jobs.map(({ kind }) => leaseOf(kind)),
      }),
    );
    const cancelled = new Map(held.map(({ id, isCancelRequested }) => [id, isCancelRequested]));
    for (const { lease } of jobs) {
      const isCancelled = cancelled.get(lease.jobId);
      if (isCancelled === undefined) lease.abort();
      else if (isCancelled) lease.abort('JOB_CANCELLED');
    }
  }
}

interface ClaimedRow extends ClaimedJob {
  readonly kind: string;
  readonly organizationId: string | null;
  readonly isCancelRequested: boolean;
  readonly isTooLate: boolean;
}

const hasShares = (kind: JobKind | undefined): boolean =>
  kind?.concurrencyPerOrganization !== undefined || kind?.concurrencyPerTarget !== undefined;

/** How many further jobs of a kind may be claimed at once, urgent ones apart: all of them may be of one organization, and of one target. */
function roomsOf(kind: JobKind, running: readonly Running[]) {
  const { name, concurrency = DEFAULT_CONCURRENCY, concurrencyPerOrganization = concurrency } = kind;
  const ofTargets = running.filter(({ target }) => target !== null);
  const targets = sharesOf(kind.concurrencyPerTarget ?? Number.POSITIVE_INFINITY, ofTargets, (job) =>
    fullOf(name, job.organizationId ?? '', { target: job.target ?? '' }),
  );
  return (kind.hasUrgentPlaces ? [true, false] : [false]).map((isUrgent) => {
    const own = running.filter((job) => job.isUrgent === isUrgent);
    const ofOrganizations = own.filter(({ organizationId }) => organizationId !== null);
    const organizations = sharesOf(concurrencyPerOrganization, ofOrganizations, ({ organizationId }) =>
      fullOf(name, organizationId ?? '', { isUrgent }),
    );
    return {
      ...{ kind, isUrgent },
      slots: Math.min(concurrency - own.length, organizations.left, targets.left),
      full: [...organizations.full, ...targets.full],
    };
  });
}

/** Who has the share that each may have, and how many more nobody else would exceed it with. */
function sharesOf(share: number, running: readonly Running[], nameOf: (job: Running) => string) {
  const counts = [...Map.groupBy(running, nameOf)].map(([name, jobs]) => ({ name, count: jobs.length }));
  const largest = Math.max(0, ...counts.map(({ count }) => count).filter((count) => count < share));
  return { full: counts.filter(({ count }) => count >= share).map(({ name }) => name), left: share - largest };
}

/** Work that needs a key which is disabled waits: no number of attempts, and no time, may end what the key alone holds up. */
const orWaiting = (work: ReturnType<JobKind['run']>): Promise<Again | undefined> =>
  (work as Promise<Again | undefined>).catch((error: unknown) => {
    if (!isKeyDisabled(error)) throw error;
    return WAIT_FOR_KEY;
  });

const leaseOf = ({ leaseSeconds = DEFAULT_LEASE_SECONDS }: JobKind): number => leaseSeconds;

/** Why a claimed job is not tried again; null when it is. Its earlier attempts lost their leases, and so could not say it. */
function refusalOf({ isCancelRequested, isTooLate, attempts }: ClaimedRow, retry: RetryPolicy): string | null {
  if (isCancelRequested) return 'JOB_CANCELLED';
  return isTooLate || attempts > retry.attempts ? 'JOB_GIVEN_UP' : null;
}

const spanOfJob = ({ name }: JobKind): SpanStart => ({
  name: `job ${name}`,
  kind: 'internal',
  attributes: { 'strongroom.job.kind': name },
});

const codeOfFailure = (error: unknown): string =>
  error instanceof AppError || error instanceof PermanentFailure ? error.code : 'INTERNAL_ERROR';
