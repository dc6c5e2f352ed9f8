import { Agenda } from 'agenda';
import type { Context } from '../context.js';
import { inBackground } from '../database/background.js';
import { inTransaction, sqlState } from '../database/in-transaction.js';
import { NO_ID } from '../ids.js';
import { describeError } from '../log.js';
import { periodically } from '../periodic.js';
import { storeTogether } from '../storing-together.js';
import { deleteFinished, registerKinds } from './job.sql.js';
import type { JobKind } from './job-kind.js';
import { JobStore, type StoreAddress } from './job-store.js';
import { defineKinds, JobTable, type TakenJob } from './job-table.js';
import { enqueueStanding, type JobRequest } from './queue.js';
import { type JobFigures, Worker, type WorkerParts } from './worker.js';

const KEPT_DAYS = 30;
/** Whatever is asked for after a commit within this time causes one run of each job. */
const DEFERRED_MS = 1_000;
const LOOK_EVERY_MS = 1_000;
/** Agenda's own look asks for each kind by itself, which at rest takes more than all else. It takes what the others claim when it is told. */
const AGENDA_LOOK_MS = 60_000;
/** How long a node that leaves waits for its jobs. Then it gives them back. */
const FINISH_MS = 3_000;
/** Half of it is how often Agenda looks whether a job has lost its lock, by a timer that outlives the job. */
const LOCK_MS = 2_000;

/** Removes jobs that nobody will look at any more. */
const DELETE_FINISHED: JobKind = {
  name: 'jobs:delete-finished',
  description: `Deletes jobs that finished more than ${KEPT_DAYS} days ago, with their attempts.`,
  everySeconds: 86_400,
  staysInside: true,
  run: async (_, run) => {
    for (let deleted = 1; deleted > 0; )
      deleted = await run.inTransaction(async (tx) => (await deleteFinished(tx, { days: KEPT_DAYS })).length);
  },
};

/** Puts back what the store has lost, or what a node could not put there. It recurs where there is one. */
const REFILL_STORE: JobKind = {
  name: 'jobs:refill-store',
  description:
    'Puts jobs that are due soon into the store of JOBS_URL, in case that it has lost them, and removes from it what failed long ago.',
  staysInside: true,
  run: async ({ wakeJobs }) => wakeJobs?.(),
};

/** The background work of the kernel itself. @param hasStore whether Agenda keeps its jobs in a store apart */
export const jobsOfJobs = (hasStore: boolean): readonly JobKind[] => [
  DELETE_FINISHED,
  hasStore ? { ...REFILL_STORE, everySeconds: 60 } : REFILL_STORE,
];

/** What the background work of a node needs. */
export interface JobsParts extends WorkerParts {
  /** How often it looks for due jobs without being told. */
  readonly lookEveryMs?: number;
  /** Where Agenda keeps its jobs apart from the database of the service. */
  readonly storeAt?: StoreAddress | null;
}

/**
 * Background work of this node: Agenda defines, schedules and runs each kind, on the table `job`, or on a store apart. Then it looks at the table
 * as well: for all that is due while the store is away, and else for what the store has forgotten.
 */
export class Jobs {
  private readonly worker: Worker;
  private readonly table: JobTable;
  private readonly agenda: Agenda;
  private readonly storeApart: JobStore | null;
  private readonly deferredEnqueues: DeferredEnqueues;
  private stopPeriods: (() => Promise<void>)[] = [];

  constructor(private readonly parts: JobsParts) {
    const { kinds, database, log, storeAt = null } = parts;
    const worker = new Worker(parts);
    this.worker = worker;
    this.storeApart =
      storeAt && new JobStore(storeAt, { database, kinds, log, worker, lookAtTable: () => this.table.look() });
    this.table = new JobTable(database, worker, () => this.storeApart?.overdueSeconds ?? 0);
    this.deferredEnqueues = new DeferredEnqueues(() => parts.contextOf(NO_ID));
    this.agenda = new Agenda({
      backend: this.table,
      processEvery: AGENDA_LOOK_MS,
      maxConcurrency: Number.POSITIVE_INFINITY,
      defaultLockLifetime: LOCK_MS,
    });
    this.agenda.on('error', (error) => log.warn('job poll failed', describeError(error)));
    this.agenda.on('complete', this.table.look);
    defineKinds<TakenJob>(this.agenda, kinds, ({ attrs }) => worker.run(attrs.data.lease));
  }

  /** Does jobs from now on. */
  async start(): Promise<void> {
    const { kinds, database, log, lookEveryMs = LOOK_EVERY_MS } = this.parts;
    await registerKinds(database.query, {
      names: kinds.map(({ name }) => name),
      every: kinds.map(({ everySeconds = null }) => everySeconds),
    });
    await Promise.all(
      kinds.map(
        ({ name, everySeconds }) =>
          everySeconds && this.agenda.every(everySeconds * 1_000, name, {}, { timezone: 'UTC', skipImmediate: true }),
      ),
    );
    await this.agenda.start();
    this.storeApart?.start();
    this.stopPeriods = [
      periodically('due jobs', lookEveryMs, async () => this.table.look(), log),
      periodically('job leases', this.worker.renewalMs, () => this.worker.renew(), log),
      periodically('asks for jobs', DEFERRED_MS, () => this.deferredEnqueues.store(), log),
    ];
  }

  /** Looks at once for these jobs, or for all that are due. */
  readonly wake = (ids?: readonly string[]): void => {
    const store = this.storeApart?.isConnected ? this.storeApart : null;
    store?.put(ids);
    if (store === null || ids === undefined) this.table.look();
  };

  /** Asks for standing jobs of a kind within a second. */
  readonly enqueueStandingLater = (kind: string, requests: readonly JobRequest[]): void =>
    this.deferredEnqueues.add(kind, requests);

  /** Where Agenda keeps its jobs, and whether it is reached. */
  get store(): { readonly backend: 'postgres' | 'mongodb'; readonly connected: boolean } {
    const { storeApart, worker } = this;
    return storeApart === null
      ? { backend: 'postgres', connected: worker.isConnected }
      : { backend: storeApart.backend, connected: storeApart.isConnected };
  }

  /** What this node has done. */
  get figures(): JobFigures {
    return this.worker.figures;
  }

  /** Takes no further job, waits a little for those that run, and leaves what was asked for to other nodes and the next start. */
  async stop(finishMs = FINISH_MS): Promise<void> {
    await this.worker.stopClaiming();
    await Promise.all([
      this.agenda.drain({ timeout: finishMs, closeConnection: false }),
      this.storeApart?.stop(finishMs),
    ]);
    await this.worker.release();
    await Promise.all(this.stopPeriods.map((stop) => stop()));
    await this.deferredEnqueues.store();
  }
}

const FOREIGN_KEY_VIOLATION = '23503';

/** A job, by the name of its kind. */
interface NamedJobRequest {
  readonly name: string;
  readonly request: JobRequest;
}

/**
 * Standing jobs that transactions of this node have asked for and that are not stored yet, each once. A node that dies forgets them,
 * and so does a failure to store them.
 */
class DeferredEnqueues {
  #asked = new Map<string, Map<string, JobRequest>>();

  /** @param contextOf of the installation: they are of many organizations */
  constructor(private readonly contextOf: () => Context) {}

  /** Called after the commit of what the jobs are to find. */
  add(kind: string, requests: readonly JobRequest[]): void {
    const ofKind = this.#asked.get(kind) ?? new Map<string, JobRequest>();
    this.#asked.set(kind, ofKind);
    for (const request of requests) ofKind.set(request.key, request);
  }

  /** Stores all of them, in one statement for each kind; apart from them those that fail on what they are about. */
  async store(): Promise<void> {
    const asked = [...this.#asked].flatMap(([name, requests]) =>
      [...requests.values()].map((request) => ({ name, request })),
    );
    if (asked.length === 0) return;
    this.#asked = new Map();
    let failure: unknown;
    await storeTogether(
      asked,
      (some) => this.#enqueue(some),
      (_, result) => {
        // What one of them is about was deleted meanwhile.
        if (result.status === 'rejected' && sqlState(result.reason) !== FOREIGN_KEY_VIOLATION) failure = result.reason;
      },
    );
    if (failure !== undefined) throw failure;
  }

  #enqueue(asked: readonly NamedJobRequest[]): Promise<void> {
    return inBackground(() =>
      inTransaction(this.contextOf(), async (tx) => {
        for (const [name, some] of Map.groupBy(asked, (one) => one.name))
          await enqueueStanding(
            tx,
            { name },
            some.map(({ request }) => request),
          );
      }),
    );
  }
}
