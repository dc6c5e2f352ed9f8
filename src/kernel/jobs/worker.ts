import { setTimeout as delay } from 'node:timers/promises';
import DataLoader from 'dataloader';
import type { Context } from '../context.js';
import { isKeyDisabled } from '../crypto/unreadable.js';
import { inBackground } from '../database/background.js';
import type { Database, Query } from '../database/database.js';
import { AppError } from '../errors.js';
import { NO_ID, newId } from '../ids.js';
import { describeError, type Log } from '../log.js';
import { runAs } from '../running.js';
import { inSpan, type SpanStart } from '../tracing/spans.js';
import { backoffSeconds } from './backoff.js';
import { claimGivenJobs, claimJobs, renewLeases } from './job.sql.js';
import { type Again, type JobKind, PermanentFailure, type RetryPolicy, WAIT_FOR_KEY } from './job-kind.js';
import { type ClaimedJob, LEASE_LOST, Lease } from './lease.js';
import { type Placed, roomsOf } from './places.js';

const DEFAULT_LEASE_SECONDS = 30;
const DEFAULT_LIMIT_SECONDS = 600;
/** Pause after a failure to store how an attempt ended. */
const END_AGAIN_MS = 200;
const DEFAULT_RETRY: RetryPolicy = { firstSeconds: 30, longestSeconds: 21_600, attempts: 10 };

/** What a node works with. */
export interface WorkerParts {
  readonly database: Database;
  readonly kinds: readonly JobKind[];
  readonly contextOf: (organizationId: string) => Context;
  readonly log: Log;
  /** True once the node takes no new work. */
  readonly isLeaving?: () => boolean;
}

/** How an attempt of this node ended. */
type Ending = 'done' | 'failed' | 'lost';

/** What a node has done since its start. */
export interface JobFigures {
  /** Jobs that run now. */
  readonly running: number;
  /** Attempts that ended, by kind and outcome. */
  readonly attempts: readonly { readonly kind: string; readonly outcome: Ending; readonly count: number }[];
}

/** A job that this node has claimed, and has not ended. */
export interface Claimed extends Placed {
  readonly kind: JobKind;
  readonly lease: Lease;
  /** Why it is not tried again; null when it is. */
  readonly refusal: string | null;
  /** On this node's monotonic clock, in milliseconds. */
  readonly renewedUntil: number;
}

/**
 * Claims jobs for this node, does them, renews their leases, and writes down how they ended. What is due, and who has it, the rows
 * alone decide, by the clock of the database: it does not matter who says when to look.
 */
export class Worker {
  private readonly node = newId();
  private readonly claimed = new Set<Claimed>();
  private readonly kinds: ReadonlyMap<string, JobKind>;
  private readonly counts = new Map<string, JobFigures['attempts'][number]>();
  private claiming: Promise<readonly Claimed[]> = Promise.resolve([]);
  private isStopped = false;
  /** Whether the last claim reached the database. */
  isConnected = false;

  constructor(private readonly parts: WorkerParts) {
    this.kinds = new Map(parts.kinds.map((kind) => [kind.name, kind]));
  }

  /** What this node has done. */
  get figures(): JobFigures {
    return { running: this.claimed.size, attempts: [...this.counts.values()] };
  }

  /** Pause between renewals of leases. */
  get renewalMs(): number {
    return (Math.min(...this.parts.kinds.map(leaseOf)) * 1_000) / 3;
  }

  /** Takes what is due of these kinds, as far as there are places. @param overdueSeconds for how long it must have been due */
  claim(names: readonly string[], overdueSeconds = 0): Promise<readonly Claimed[]> {
    const wanted = new Set(names);
    return this.inTurn(
      ({ name }) => wanted.has(name),
      (query, room) => claimJobs(query, { ...room, overdueSeconds }),
    );
  }

  /** Takes the job with this id. Undefined if it is not due, somebody has it, or there is no place for it. */
  claimOne(id: string): Promise<Claimed | undefined> {
    return this.ones.load(id);
  }

  private readonly ones = new DataLoader<string, Claimed | undefined>(
    async (ids) => {
      const claimed = await this.inTurn(
        () => true,
        (query, room) => claimGivenJobs(query, { ...room, ids: [...ids] }),
      );
      return ids.map((id) => claimed.find(({ lease }) => lease.jobId === id));
    },
    { cache: false },
  );

  /** One claim after the other, since each counts the places that are free. */
  private inTurn(...claim: Parameters<Worker['claimNow']>): Promise<readonly Claimed[]> {
    this.claiming = this.claiming.then(() => this.claimNow(...claim));
    return this.claiming;
  }

  private async claimNow(
    isWanted: (kind: JobKind) => boolean,
    claim: (query: Query, room: ReturnType<Worker['room']>) => Promise<ClaimedRow[]>,
  ): Promise<readonly Claimed[]> {
    const { database, isLeaving = () => false, log } = this.parts;
    const room = this.room(isWanted);
    if (this.isStopped || isLeaving() || room.names.length === 0) return [];
    try {
      const rows = await database.withConnection((query) => claim(query, room));
      this.isConnected = true;
      return rows.flatMap((row) => this.begin(row) ?? []);
    } catch (error) {
      // Agenda looks every second: once for each time that the database is away.
      if (this.isConnected) log.warn('job poll failed', describeError(error));
      this.isConnected = false;
      return [];
    }
  }

  /** Which of these kinds may begin further jobs, how many of each, how long they are leased, and who may have no more of them. */
  private room(isWanted: (kind: JobKind) => boolean) {
    // One that hangs after its lease has ended must not keep its kind from this node.
    const running = [...this.claimed].filter(({ lease }) => !lease.signal.aborted);
    const byKind = Map.groupBy(running, ({ kind }) => kind);
    const rooms = this.parts.kinds.filter(isWanted).flatMap((kind) => roomsOf(kind, byKind.get(kind) ?? []));
    const free = rooms.filter(({ slots }) => slots > 0);
    return {
      node: this.node,
      names: free.map(({ kind }) => kind.name),
      areUrgent: free.map(({ isUrgent }) => isUrgent),
      slots: free.map(({ slots }) => slots),
      leases: free.map(({ kind }) => leaseOf(kind)),
      full: rooms.flatMap(({ full }) => full),
    };
  }

  private begin(row: ClaimedRow): Claimed | undefined {
    const kind = this.kinds.get(row.kind);
    if (kind === undefined) return undefined;
    const { contextOf } = this.parts;
    const { organizationId, target, isUrgent } = row;
    const claimed: Claimed = {
      ...{ kind, organizationId, target, isUrgent },
      lease: new Lease(contextOf(organizationId ?? NO_ID), row, contextOf),
      refusal: refusalOf(row, kind.retry ?? DEFAULT_RETRY),
      renewedUntil: performance.now() + (kind.limitSeconds ?? DEFAULT_LIMIT_SECONDS) * 1_000,
    };
    this.claimed.add(claimed);
    return claimed;
  }

  /**
   * Does a job, and ends its attempt. It also returns when the lease is lost, while a handler that does not heed its signal goes on.
   *
   * @throws PermanentFailure with a code, after an attempt that did not succeed
   */
  async run(claimed: Claimed): Promise<void> {
    const { signal } = claimed.lease;
    const aborted = Promise.withResolvers<never>();
    const onAbort = (): void => aborted.reject(signal.reason);
    signal.addEventListener('abort', onAbort);
    try {
      const performed = inBackground(() => this.perform(claimed)).finally(() => this.claimed.delete(claimed));
      await Promise.race([performed, aborted.promise]);
      this.count(claimed, 'done');
    } catch (error) {
      this.count(claimed, error instanceof PermanentFailure && error.code === LEASE_LOST ? 'lost' : 'failed');
      throw error;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  private count({ kind: { name: kind } }: Claimed, outcome: Ending): void {
    const key = `${kind} ${outcome}`;
    const { count } = this.counts.get(key) ?? { count: 0 };
    this.counts.set(key, { kind, outcome, count: count + 1 });
  }

  private async perform(claimed: Claimed): Promise<void> {
    const { kind, lease, refusal } = claimed;
    const { retry = DEFAULT_RETRY } = kind;
    try {
      lease.signal.throwIfAborted();
      if (refusal !== null) throw new PermanentFailure(refusal);
      const again = await inSpan(
        () => spanOfJob(kind),
        codeOfFailure,
        async () => runAs({ job: kind.name }, () => orWaiting(kind.run(lease.ctx, lease))),
      );
      // What was stopped may have left something undone.
      if (lease.signal.aborted) throw lease.signal.reason;
      const errorCode = again?.waitsFor ?? null;
      await this.end(claimed, errorCode === null ? 'done' : 'released', again?.againInSeconds ?? null, errorCode);
    } catch (error) {
      const errorCode = lease.abortCode ?? codeOfFailure(error);
      const isFinal = lease.abortCode === null && error instanceof PermanentFailure;
      const pauseSeconds = isFinal ? null : backoffSeconds(retry, lease.attempt, Math.random());
      this.parts.log.warn('job attempt failed', { ...factsOf(claimed), errorCode, ...describeError(error) });
      await this.end(claimed, 'failed', pauseSeconds, errorCode);
      throw new PermanentFailure(errorCode);
    }
  }

  /** Writes down how an attempt ended, as often as it takes: after a lost connection, what is done would else be done again. */
  private async end(
    claimed: Claimed,
    outcome: 'done' | 'failed' | 'released',
    pauseSeconds: number | null,
    errorCode: string | null,
  ): Promise<void> {
    const { kind, lease } = claimed;
    const until = performance.now() + leaseOf(kind) * 1_000;
    for (;;) {
      try {
        if (!(await lease.end(outcome, { pauseSeconds, errorCode }))) lease.abort();
        return;
      } catch (error) {
        if (performance.now() < until) await delay(END_AGAIN_MS, undefined, { ref: false });
        else return this.parts.log.warn('job result not stored', { ...factsOf(claimed), ...describeError(error) });
      }
    }
  }

  /** Renews the leases of jobs that run, and stops those that lost theirs, were cancelled, or have had their time. */
  async renew(): Promise<void> {
    const now = performance.now();
    for (const { lease, renewedUntil } of this.claimed) if (renewedUntil < now) lease.abort('JOB_TOOK_TOO_LONG');
    const jobs = [...this.claimed].filter(({ lease }) => !lease.signal.aborted);
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

  /** Claims nothing from now on. Returns after the claim that is under way. */
  async stopClaiming(): Promise<void> {
    this.isStopped = true;
    await this.claiming;
  }

  /** Gives back what has not ended. */
  async release(): Promise<void> {
    await Promise.all([...this.claimed].map(({ lease }) => lease.release()));
  }
}

interface ClaimedRow extends ClaimedJob {
  readonly kind: string;
  readonly organizationId: string | null;
  readonly isCancelRequested: boolean;
  readonly isTooLate: boolean;
}

/** Work that needs a key which is disabled waits: no number of attempts, and no time, may end what the key alone holds up. */
const orWaiting = (work: ReturnType<JobKind['run']>): Promise<Again | undefined> =>
  (work as Promise<Again | undefined>).catch((error: unknown) => {
    if (!isKeyDisabled(error)) throw error;
    return WAIT_FOR_KEY;
  });

const factsOf = ({ kind, lease }: Claimed) => ({ job: lease.jobId, kind: kind.name, attempt: lease.attempt });

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
