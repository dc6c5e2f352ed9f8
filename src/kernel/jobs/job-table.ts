import { setImmediate } from 'node:timers/promises';
import { PostgresJobRepository } from '@agendajs/postgres-backend';
import {
  type Agenda,
  type AgendaBackend,
  InMemoryNotificationChannel,
  type Job,
  type JobParameters,
  type NotificationChannel,
  toJobId,
} from 'agenda';
import DataLoader from 'dataloader';
import type { Pool } from 'pg';
import type { Database } from '../database/database.js';
import { scheduleKinds } from './job.sql.js';
import type { JobKind } from './job-kind.js';
import type { Lease } from './lease.js';
import { concurrencyOf, hasShares } from './slots.js';
import type { Worker } from './worker.js';

/** Agenda judges locks by the clock of the node. Leases are judged by that of the database, so that no lock may end before its lease. */
const NEVER = new Date(8_640_000_000_000_000);

/** Has an Agenda run these kinds, as many of each as a node has slots for. */
export function defineKinds<Data>(
  agenda: Agenda,
  kinds: readonly JobKind[],
  run: (job: Job<Data>) => Promise<void>,
): void {
  for (const kind of kinds)
    agenda.define(kind.name, run, { concurrency: concurrencyOf(kind), lockLimit: concurrencyOf(kind) });
}

/** Has the Agenda of a channel look for due jobs of these kinds. */
export async function checkForDueJobs(channel: NotificationChannel, names: Iterable<string>): Promise<void> {
  if (channel.state !== 'connected') return;
  const notification = { jobId: toJobId(''), nextRunAt: null, priority: 0, timestamp: new Date() };
  await Promise.all(Array.from(names, (jobName) => channel.publish({ ...notification, jobName })));
}

/** What Agenda is given of a claimed job. */
export interface TakenJob {
  readonly lease: Lease;
}

/**
 * Agenda's backend on the table `job`: what a transaction has queued is there when it commits. It claims by the worker, for all kinds in one
 * statement, and writes nothing of how jobs end, since that is written within their leases. What Agenda's dashboard reads, it reads from
 * the view `agenda_jobs`, which nobody can write to: changes go through the API, which records them.
 */
export class JobTable extends PostgresJobRepository implements AgendaBackend {
  readonly name = 'strongroom';
  readonly repository = this;
  readonly ownsConnection = false;
  readonly notificationChannel = new InMemoryNotificationChannel();
  /** Claimed, and not yet asked for by Agenda. */
  private readonly ready: Lease[] = [];
  private isAsked = false;
  private isLooking = false;

  private readonly schedules = new DataLoader<JobParameters, JobParameters>((jobs) => this.schedule(jobs), {
    cache: false,
  });

  constructor(
    private readonly database: Database,
    private readonly worker: Worker,
    /** For how long jobs must have been due: those that another store holds are left to it for a while. */
    private readonly overdueSeconds: () => number = () => 0,
  ) {
    super({ pool: readingPool(database), ensureSchema: false });
  }

  override async connect(): Promise<void> {}

  /** Claims what is due now, or right after the look that is under way, and has Agenda take it. */
  readonly look = (): void => {
    this.isAsked = true;
    if (this.isLooking) return;
    this.isLooking = true;
    void this.lookWhileAsked();
  };

  /** Agenda asks at its looks, and until there is none of a kind while it takes what was claimed. */
  override async getNextJobToRun(name: string): Promise<JobParameters | undefined> {
    if (!this.isLooking) this.look();
    return this.take(name);
  }

  /** Registers the recurring job of a kind. When it is due, the database knows, not the node. */
  override async saveJob<Data>(job: JobParameters<Data>): Promise<JobParameters<Data>> {
    await this.schedules.load(job as JobParameters);
    return job;
  }

  override async saveJobState(job: JobParameters): Promise<void> {
    if (job.lockedAt) job.lockedAt = NEVER;
  }

  override async lockJob(): Promise<undefined> {}

  override async unlockJob(job: JobParameters): Promise<void> {
    await this.unlockJobs([job._id ?? '']);
  }

  override async unlockJobs(ids: readonly string[]): Promise<void> {
    await this.worker.release(ids);
  }

  private async lookWhileAsked(): Promise<void> {
    try {
      while (this.isAsked && this.notificationChannel.state === 'connected') {
        // Agenda has given the slots back by then of jobs that have just ended.
        await setImmediate();
        this.isAsked = false;
        const claimed = await this.worker.claim(this.overdueSeconds());
        this.ready.push(...claimed);
        await checkForDueJobs(this.notificationChannel, new Set(this.ready.map(({ kind }) => kind.name)));
        // There may be room for further ones, of other organizations and targets.
        if (claimed.some(({ kind }) => hasShares(kind))) this.isAsked = true;
      }
    } finally {
      this.isLooking = false;
    }
  }

  private take(name: string): JobParameters | undefined {
    const at = this.ready.findIndex(({ kind }) => kind.name === name);
    const [lease] = at === -1 ? [] : this.ready.splice(at, 1);
    if (lease === undefined) return undefined;
    const data: TakenJob = { lease };
    const _id = toJobId(lease.row.id);
    return { _id, name, type: 'normal', priority: 0, nextRunAt: null, lockedAt: NEVER, data };
  }

  private async schedule(jobs: readonly JobParameters[]): Promise<readonly JobParameters[]> {
    await scheduleKinds(this.database.query, {
      names: jobs.map(({ name }) => name),
      every: jobs.map(({ repeatInterval }) => Number(repeatInterval) / 1_000),
    });
    return jobs;
  }
}

/** The part of a pool that reading needs. */
const readingPool = ({ query }: Database): Pool =>
  ({ query: async (text: string, values: unknown[] = []) => ({ rows: await query(text, values) }) }) as unknown as Pool;
