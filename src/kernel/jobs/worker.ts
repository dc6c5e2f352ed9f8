import { setTimeout as delay } from 'node:timers/promises';
import DataLoader from 'dataloader';
import type { Context } from '../context.js';
import { isKeyDisabled } from '../crypto/sealed-text.js';
import { inBackground } from '../database/background.js';
import type { Database, Query } from '../database/database.js';
import { AppError } from '../errors.js';
import { newId } from '../ids.js';
import { describeError, type Log } from '../log.js';
import { runAs } from '../running.js';
import { inSpan, type SpanStart } from '../tracing/spans.js';
import { claimJobs, claimJobsByIds, renewLeases } from './job.sql.js';
import {
  type Again,
  backoffSeconds,
  type JobKind,
  PermanentFailure,
  type RetryPolicy,
  WAIT_FOR_KEY,
} from './job-kind.js';
import { type ClaimedRow, LEASE_LOST, Lease, leaseOf } from './lease.js';
import { freeSlotsOf } from './slots.js';

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

/**
 * Claims jobs for this node, does them, renews their leases, and writes down how they ended. What is due, and who has it, the rows
 * alone decide, by the clock of the database: it does not matter who says when to look.
 */
export class Worker {
  private readonly node = newId();
  /** Those whose attempt has not ended. */
  private readonly claimed = new Set<Lease>();
  private readonly kinds: ReadonlyMap<string, JobKind>;
  private readonly counts = new Map<string, JobFigures['attempts'][number]>();
  private claiming: Promise<readonly Lease[]> = Promise.resolve([]);
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

  /** Whether it claims jobs. */
  get takesJobs(): boolean {
    return !this.isStopped && this.parts.isLeaving?.() !== true;
  }

  /** Takes what is due, as far as there are slots. @param overdueSeconds for how long it must have been due */
  claim(overdueSeconds: number): Promise<readonly Lease[]> {
    return this.inTurn((query, room) => claimJobs(query, { ...room, overdueSeconds }));
  }

  /** Takes the job with this id. Undefined if it is not due, somebody has it, or there is no slot for it. */
  claimOne(id: string): Promise<Lease | undefined> {
    return this.ones.load(id);
  }

  private readonly ones = new DataLoader<string, Lease | undefined>(
    async (ids) => {
      const claimed = await this.inTurn((query, room) => claimJobsByIds(query, { ...room, ids: [...ids] }));
      return ids.map((id) => claimed.find(({ row }) => row.id === id));
    },
    { cache: false },
  );

  /** One claim after the other, since each counts the slots that are free. */
  private inTurn(...claim: Parameters<Worker['claimNow']>): Promise<readonly Lease[]> {
    this.claiming = this.claiming.then(() => this.claimNow(...claim));
    return this.claiming;
  }

  private async claimNow(
    claim: (query: Query, room: ReturnType<Worker['room']>) => Promise<ClaimedRow[]>,
  ): Promise<readonly Lease[]> {
    try {
      const room = this.room();
      if (!this.takesJobs || room.names.length === 0) return [];
      const rows = await claim(this.parts.database.inBackground, room);
      this.isConnected = true;
      return rows.flatMap((row) => this.begin(row) ?? []);
    } catch (error) {
      // Agenda looks every second: once for each time that the database is away.
      if (this.isConnected) this.parts.log.warn('job poll failed', describeError(error));
      this.isConnected = false;
      return [];
    }
  }

  /** Which kinds may begin further jobs, how many of each, how long they are leased, and who may have no more of them. */
  private room() {
    // One that hangs after its lease has ended must not keep its kind from this node.
    const running = [...this.claimed].filter(({ signal }) => !signal.aborted);
    const byKind = Map.groupBy(running, ({ kind }) => kind);
    const rooms = this.parts.kinds.flatMap((kind) =>
      freeSlotsOf(
        kind,
        (byKind.get(kind) ?? []).map(({ row }) => row),
      ),
    );
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

  private begin(row: ClaimedRow): Lease | undefined {
    const kind = this.kinds.get(row.kind);
    if (kind === undefined) return undefined;
    const lease = new Lease(kind, row, this.parts.contextOf);
    this.claimed.add(lease);
    return lease;
  }

  /**
   * Does a job, and ends its attempt. It also returns when the lease is lost, while a handler that does not heed its signal goes on.
   *
   * @throws PermanentFailure with a code, after an attempt that did not succeed
   */
  async run(lease: Lease): Promise<void> {
    const { signal } = lease;
    const aborted = Promise.withResolvers<never>();
    const onAbort = (): void => aborted.reject(signal.reason);
    signal.addEventListener('abort', onAbort);
    try {
      const performed = inBackground(() => this.perform(lease)).finally(() => this.claimed.delete(lease));
      await Promise.race([performed, aborted.promise]);
      this.count(lease, 'done');
    } catch (error) {
      this.count(lease, error instanceof PermanentFailure && error.code === LEASE_LOST ? 'lost' : 'failed');
      throw error;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  private count({ kind: { name: kind } }: Lease, outcome: Ending): void {
    const key = `${kind} ${outcome}`;
    const { count } = this.counts.get(key) ?? { count: 0 };
    this.counts.set(key, { kind, outcome, count: count + 1 });
  }

  private async perform(lease: Lease): Promise<void> {
    const { kind, row } = lease;
    const { retry = DEFAULT_RETRY } = kind;
    try {
      lease.signal.throwIfAborted();
      const refusal = refusalOf(row, retry);
      if (refusal !== null) throw new PermanentFailure(refusal);
      const again = await inSpan(
        () => spanOfJob(kind),
        codeOfFailure,
        async () => runAs({ job: kind.name }, () => orWaiting(kind.run(lease.ctx, lease.run))),
      );
      // What was stopped may have left something undone.
      if (lease.signal.aborted) throw lease.signal.reason;
      const errorCode = again?.waitsFor ?? null;
      await this.end(lease, errorCode === null ? 'done' : 'released', again?.againInSeconds ?? null, errorCode);
    } catch (error) {
      const errorCode = lease.abortCode ?? codeOfFailure(error);
      const isFinal = lease.abortCode === null && error instanceof PermanentFailure;
      const pauseSeconds = isFinal ? null : backoffSeconds(retry, row.attempts, Math.random());
      this.parts.log.warn('job attempt failed', { ...factsOf(lease), errorCode, ...describeError(error) });
      await this.end(lease, 'failed', pauseSeconds, errorCode);
      throw new PermanentFailure(errorCode);
    }
  }

  /** Writes down how an attempt ended, as often as it takes: after a lost connection, what is done would else be done again. */
  private async end(lease: Lease, ...ending: Parameters<Lease['end']>): Promise<void> {
    const until = performance.now() + leaseOf(lease.kind) * 1_000;
    for (;;) {
      try {
        if (!(await lease.end(...ending))) lease.abort();
        return;
      } catch (error) {
        if (performance.now() < until) await delay(END_AGAIN_MS, undefined, { ref: false });
        else return this.parts.log.warn('job result not stored', { ...factsOf(lease), ...describeError(error) });
      }
    }
  }

  /** Renews the leases of jobs that run, and stops those that lost theirs, were cancelled, or have had their time. */
  async renew(): Promise<void> {
    const now = performance.now();
    for (const lease of this.claimed) if (lease.renewedUntil < now) lease.abort('JOB_TOOK_TOO_LONG');
    const leases = [...this.claimed].filter(({ signal }) => !signal.aborted);
    if (leases.length === 0) return;
    const held = await renewLeases(this.parts.database.inBackground, {
      ids: leases.map(({ row }) => row.id),
      fences: leases.map(({ row }) => row.fence),
      leases: leases.map(({ kind }) => leaseOf(kind)),
    });
    const cancelled = new Map(held.map(({ id, isCancelRequested }) => [id, isCancelRequested]));
    for (const lease of leases) {
      const isCancelled = cancelled.get(lease.row.id);
      if (isCancelled === undefined) lease.abort();
      else if (isCancelled) lease.abort('JOB_CANCELLED');
    }
  }

  /** Claims nothing from now on. Returns after the claim that is under way. */
  async stopClaiming(): Promise<void> {
    this.isStopped = true;
    await this.claiming;
  }

  /** Gives back what has not ended, all of it or the jobs with these ids. What cannot be given back is free when its lease ends. */
  async release(ids?: readonly string[]): Promise<void> {
    const leases = [...this.claimed].filter(({ row }) => ids?.includes(row.id) ?? true);
    await Promise.all(
      leases.map(async (lease) => {
        this.claimed.delete(lease);
        try {
          await lease.end('released');
        } catch (error) {
          this.parts.log.warn('job result not stored', { ...factsOf(lease), ...describeError(error) });
        }
        lease.abort('JOB_RELEASED');
      }),
    );
  }
}

/** Work that needs a key which is disabled waits: no number of attempts, and no time, may end what the key alone holds up. */
const orWaiting = (work: ReturnType<JobKind['run']>): Promise<Again | undefined> =>
  (work as Promise<Again | undefined>).catch((error: unknown) => {
    if (!isKeyDisabled(error)) throw error;
    return WAIT_FOR_KEY;
  });

const factsOf = ({ kind, row }: Lease) => ({ job: row.id, kind: kind.name, attempt: row.attempts });

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
