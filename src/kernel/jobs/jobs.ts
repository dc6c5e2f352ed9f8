import { NO_ID } from '../ids.js';
import { periodically } from '../periodic.js';
import { deleteFinished } from './job.sql.js';
import type { JobKind } from './job-kind.js';
import { LateAsks } from './late-asks.js';
import type { JobRequest } from './queue.js';
import { type JobFigures, JobRunner, type RunnerParts } from './runner.js';
import { Waker, type WakeStore } from './waker.js';

const KEPT_DAYS = 30;
/** Whatever is asked for after a commit within this time causes one run of each job. */
const LATE_ASKS_MS = 1_000;

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

/** The background work of the kernel itself. */
export const KERNEL_JOB_KINDS: readonly JobKind[] = [DELETE_FINISHED];

/** Background work of this node: a runner that does it, and a waker that says when. */
export class Jobs {
  private readonly runner: JobRunner;
  private readonly waker: Waker;
  private readonly lateAsks: LateAsks;
  private stopLateAsks: () => Promise<void> = async () => undefined;

  constructor(private readonly parts: Omit<RunnerParts, 'onNext'> & { readonly store: WakeStore }) {
    this.runner = new JobRunner({
      ...parts,
      onNext: (seconds) => this.waker.wakeIn(seconds),
    });
    this.waker = new Waker(parts.store, this.runner.wake, parts.log);
    this.lateAsks = new LateAsks(() => parts.contextOf(NO_ID));
  }

  /** Does jobs from now on. */
  async start(): Promise<void> {
    await this.runner.start();
    this.waker.start();
    this.stopLateAsks = periodically('asks for jobs', LATE_ASKS_MS, () => this.lateAsks.store(), this.parts.log);
  }

  /** Looks for due jobs at once. */
  readonly wake = (): void => this.runner.wake();

  /** Asks for standing jobs of a kind within a second. */
  readonly askLater = (kind: string, requests: readonly JobRequest[]): void => this.lateAsks.add(kind, requests);

  /** Where Agenda keeps its wake-ups, and whether it is reached. */
  get store(): { readonly backend: WakeStore['name']; readonly connected: boolean } {
    return { backend: this.waker.backend, connected: this.waker.isConnected };
  }

  /** What this node has done. */
  get figures(): JobFigures {
    return this.runner.figures;
  }

  /** Takes no further job, waits a little for those that run, and leaves what was asked for to other nodes and the next start. */
  async stop(): Promise<void> {
    await this.waker.stop();
    await this.runner.stop();
    await this.stopLateAsks();
    await this.lateAsks.store();
  }
}
