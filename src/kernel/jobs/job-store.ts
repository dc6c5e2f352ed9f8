import { setTimeout as delay } from 'node:timers/promises';
import {
  Agenda,
  type AgendaBackend,
  InMemoryNotificationChannel,
  type Job,
  type JobParameters,
  type JobRepository,
} from 'agenda';
import type { Database } from '../database/database.js';
import { databaseNow } from '../database/now.sql.js';
import { isId } from '../ids.js';
import { describeError, type Log } from '../log.js';
import { listTimes, listUpcomingTimes } from './job.sql.js';
import type { JobKind } from './job-kind.js';
import { checkForDueJobs, defineKinds } from './job-table.js';
import type { Worker } from './worker.js';

const SHORTEST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;
/** Agenda takes what is due until its next look and runs each at its time. */
const LOOK_EVERY_MS = 5_000;
/** A lock that ends sooner than its lease does no harm. */
const LOCK_MS = 20_000;
/** Longer than the pause between two sweeps. */
const SOON_SECONDS = 90;
/** For how long due jobs are left to the store. */
const OVERDUE_SECONDS = 5;
/** For how long a store keeps what failed: not shorter than its row. */
const KEPT_DAYS = 31;
/** The rest of a burst is put there by the next sweep. */
const MOST_AT_ONCE = 1_000;

/** A store of Agenda's that is reached. */
export interface OpenStore {
  readonly backend: AgendaBackend;
  /** Removes jobs that failed for good more than so many days ago. */
  forgetFailed(days: number): Promise<void>;
  close(): Promise<void>;
}

/** What the store has of a job: the id of its row. */
interface JobData {
  readonly id: string;
}

/** A store, and the Agenda through which jobs are put there. */
interface Reached {
  readonly store: OpenStore;
  readonly feeder: Agenda;
}

/** A store apart from the database of the service. */
export interface StoreAddress {
  readonly name: 'postgres' | 'mongodb';
  /** @throws when it cannot be reached now */
  open(): Promise<OpenStore>;
}

/** When a job is due, in seconds from now by the clock of the database; below 0 for how long it has been. */
interface Timed {
  readonly id: string;
  readonly kind: string;
  readonly everySeconds: number | null;
  readonly seconds: number;
}

interface StoreParts {
  readonly database: Database;
  readonly kinds: readonly JobKind[];
  readonly log: Log;
  readonly worker: Worker;
  /** Has the node look at its table of jobs. */
  readonly lookAtTable: () => void;
}

/**
 * Agenda on a store apart, which holds the id of each job and when it is due. The rows decide: it may run a job twice, early or late, or lose
 * it, and nothing happens twice.
 */
export class JobStore {
  /** Null while it is away. */
  private reached: Reached | null = null;
  private readonly channel = new InMemoryNotificationChannel();
  /** Kinds for which Agenda looks, and whether it has to look again. */
  private readonly looking = new Map<string, boolean>();
  private isStopped = false;
  private keeping: Promise<void> = Promise.resolve();
  private readonly stopping = new AbortController();
  /** Ends the connection that there is; null without one. */
  private onLost: ((error?: unknown) => void) | null = null;
  private unsaved = new Set<string>();
  private isSweepAsked = false;
  private saving: Promise<void> | null = null;
  private drain: (timeoutMs: number) => Promise<void> = async () => undefined;
  /** When a job last left the store that had found no slot. */
  private leftAt = Number.NEGATIVE_INFINITY;
  private readonly names: readonly string[];
  /** The clock of the database, from which that of a node may be far. It goes on by itself, even if somebody sets the other. */
  private sharedNow: () => number = Date.now;

  constructor(
    private readonly from: StoreAddress,
    private readonly parts: StoreParts,
  ) {
    this.names = parts.kinds.map(({ name }) => name);
  }

  /** Which backend it is. */
  get backend(): StoreAddress['name'] {
    return this.from.name;
  }

  /** Whether it takes and runs jobs now. */
  get isConnected(): boolean {
    return this.reached !== null;
  }

  /** For how long jobs must have been due that the node takes from its table. What has just left the store waits for no more than a slot. */
  get overdueSeconds(): number {
    return this.isConnected && !this.hasJustLeft ? OVERDUE_SECONDS : 0;
  }

  private get hasJustLeft(): boolean {
    return performance.now() - this.leftAt < OVERDUE_SECONDS * 1_000;
  }

  /** Connects in the background, as often as it takes. */
  start(): void {
    this.keeping = this.keepConnected();
  }

  /** Puts jobs there that have been queued. @param ids absent: all that are due now or soon, and those that recur */
  put(ids?: readonly string[]): void {
    if (ids === undefined) this.isSweepAsked = true;
    for (const id of ids ?? []) if (this.unsaved.size < MOST_AT_ONCE) this.unsaved.add(id);
    this.saving ??= this.save()
      .catch((error: unknown) => this.onLost?.(error))
      .finally(() => {
        this.saving = null;
      });
  }

  /** Runs what has begun for a while, and no further job. */
  async stop(finishMs: number): Promise<void> {
    this.isStopped = true;
    this.stopping.abort();
    await this.drain(finishMs);
    this.onLost?.();
    await this.keeping;
  }

  private async keepConnected(): Promise<void> {
    const { log } = this.parts;
    const { name: backend } = this.from;
    for (let pause = SHORTEST_PAUSE_MS; !this.isStopped; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      try {
        const store = await this.from.open();
        const since = performance.now();
        const error = await this.useUntilLost(store).finally(() => store.close().catch(() => undefined));
        if (this.isStopped) return;
        log.warn('job store connection lost', { backend, ...describeError(error) });
        if (performance.now() - since > LONGEST_PAUSE_MS) pause = SHORTEST_PAUSE_MS;
      } catch (error) {
        log.warn('job store unreachable', { backend, ...describeError(error) });
      }
      await delay(pause, undefined, { signal: this.stopping.signal, ref: false }).catch(() => undefined);
    }
  }

  /** @returns what went wrong; undefined when it was stopped */
  private async useUntilLost(store: OpenStore): Promise<unknown> {
    const { backend } = store;
    await backend.connect();
    // Agenda connects it once more, and a failure there would end the process.
    backend.connect = async () => undefined;
    const { repository } = backend;
    // Agenda does not wait for it, and a failure would end the process.
    const unlock = repository.unlockJob.bind(repository);
    repository.unlockJob = (job) => unlock(job).catch(() => undefined);
    this.shareTime(repository);
    const lost = Promise.withResolvers<unknown>();
    const agenda = this.define(backend);
    agenda.on('error', lost.resolve);
    // It runs nothing: for each job that it saves, one that runs jobs would look by itself.
    const reached = { store, feeder: new Agenda({ backend }) };
    try {
      // A store that takes no job is unreachable. Nobody may see it as connected before.
      await this.sweep(reached);
      await agenda.start();
      this.onLost = lost.resolve;
      this.drain = async (timeout) => void (await agenda.drain({ timeout, closeConnection: false }));
      if (this.isStopped) return undefined;
      this.reached = reached;
      this.parts.log.info('job store connected', { backend: this.from.name });
      // What was asked for meanwhile.
      this.put();
      return await lost.promise;
    } finally {
      this.reached = null;
      this.onLost = null;
      await agenda.stop(false).catch(() => undefined);
    }
  }

  /** Agenda has all times from its node. The nodes have one store, in which they are those of the database. */
  private shareTime(repository: JobRepository): void {
    const take = repository.getNextJobToRun.bind(repository);
    const save = repository.saveJob.bind(repository);
    const saveState = repository.saveJobState.bind(repository);
    const aheadMs = (): number => Math.round(Date.now() - this.sharedNow());
    repository.getNextJobToRun = async (name, until, lockedBefore, now = new Date(), options) => {
      // A node that leaves leaves them to the others.
      if (!this.parts.worker.takesJobs) return undefined;
      const ahead = aheadMs();
      const times = [until, lockedBefore, now].map((time) => moved(time, -ahead)) as [Date, Date, Date];
      const job = await take(name, ...times, options);
      return job && withTimes(job, ahead);
    };
    repository.saveJob = async (job, options) => {
      const ahead = aheadMs();
      return withTimes(await save(withTimes(job, -ahead), options), ahead);
    };
    repository.saveJobState = (job, options) => saveState(withTimes(job, -aheadMs()), options);
  }

  private async readClock(): Promise<void> {
    const now = (await databaseNow(this.parts.database.query)).getTime();
    const since = performance.now();
    this.sharedNow = () => now + performance.now() - since;
  }

  private define(backend: OpenStore['backend']): Agenda {
    const agenda = new Agenda({
      ...{ backend, notificationChannel: this.channel, processEvery: LOOK_EVERY_MS },
      ...{ maxConcurrency: Number.POSITIVE_INFINITY, defaultLockLifetime: LOCK_MS, removeOnComplete: true },
    });
    // There is a slot for the next one of its kind; it may itself be due again at once.
    agenda.on('complete', ({ attrs }) => {
      setImmediate(() => void this.look(attrs.name));
      if (this.hasJustLeft) this.parts.lookAtTable();
    });
    defineKinds<JobData>(agenda, this.parts.kinds, (job) => this.run(job));
    return agenda;
  }

  /** Runs a job if it is due, and notes when it is due next. One without a slot, or of a paused kind, leaves: the table has it. */
  private async run(job: Job<JobData>): Promise<void> {
    const id: unknown = job.attrs.data?.id;
    if (typeof id !== 'string' || !isId(id)) return;
    const { worker, database } = this.parts;
    const since = performance.now();
    const claimed = await worker.claimOne(id);
    const touching = setInterval(() => void job.touch().catch(() => undefined), LOCK_MS / 4);
    try {
      if (claimed !== undefined) await worker.run(claimed);
    } finally {
      clearInterval(touching);
      const [next] = await listTimes(database.query, { ids: [id] }).catch(() => []);
      // One that came due after the claim may still find a slot.
      const wasDue = next !== undefined && next.seconds < (since - performance.now()) / 1_000;
      const isLeft = claimed === undefined && wasDue && worker.takesJobs;
      if (isLeft) this.leftAt = performance.now();
      job.attrs.nextRunAt = next === undefined || isLeft ? null : fromNow(next.seconds);
    }
  }

  private async save(): Promise<void> {
    while ((this.unsaved.size > 0 || this.isSweepAsked) && this.reached !== null) {
      const { reached } = this;
      const ids = [...this.unsaved];
      this.unsaved = new Set();
      if (ids.length > 0) await this.putTimed(reached.feeder, await listTimes(this.parts.database.query, { ids }));
      if (this.isSweepAsked) await this.sweep(reached);
    }
  }

  private async sweep({ store, feeder }: Reached): Promise<void> {
    this.isSweepAsked = false;
    await this.readClock();
    const { names } = this;
    await store.forgetFailed(KEPT_DAYS);
    const times = { names, overdueSeconds: OVERDUE_SECONDS, seconds: SOON_SECONDS };
    await this.putTimed(feeder, await listUpcomingTimes(this.parts.database.query, times));
  }

  /** Puts jobs there, where each is once, and has those run that are due. */
  private async putTimed(feeder: Agenda, jobs: readonly Timed[]): Promise<void> {
    await Promise.all(
      jobs.map(async ({ id, kind, everySeconds, seconds }) => {
        const data: JobData = { id };
        const job =
          everySeconds === null
            ? feeder.create(kind, data).unique({ 'data.id': id })
            : await feeder.every(everySeconds * 1_000, kind, data, { timezone: 'UTC', skipImmediate: true });
        job.schedule(fromNow(seconds));
        // Agenda fails on a job that leaves between its look whether it is there and its change.
        await job.save().catch(() => job.save());
      }),
    );
    for (const kind of new Set(jobs.map((job) => job.kind))) void this.look(kind);
  }

  /** One look after the other: those at once would take more than there is room for, and give it back. */
  private async look(kind: string): Promise<void> {
    if (this.looking.has(kind)) return void this.looking.set(kind, true);
    do {
      this.looking.set(kind, false);
      await checkForDueJobs(this.channel, [kind]);
    } while (this.looking.get(kind) === true);
    this.looking.delete(kind);
  }
}

const moved = (time: Date, ms: number): Date => new Date(time.getTime() + ms);

/** A job with all its times moved. */
const withTimes = <Data>(job: JobParameters<Data>, ms: number): JobParameters<Data> => ({
  ...job,
  ...Object.fromEntries(
    Object.entries(job).flatMap(([name, value]) => (value instanceof Date ? [[name, moved(value, ms)]] : [])),
  ),
});

const fromNow = (seconds: number): Date => new Date(Date.now() + seconds * 1_000);
