import { assemble } from '../../../src/app.js';
import type { Kernel } from '../../../src/kernel/context.js';
import { Database } from '../../../src/kernel/database/database.js';
import { inTransaction } from '../../../src/kernel/database/in-transaction.js';
import { NO_ID } from '../../../src/kernel/ids.js';
import type { JobKind } from '../../../src/kernel/jobs/job-kind.js';
import { Jobs, type JobsParts } from '../../../src/kernel/jobs/jobs.js';
import { enqueueStanding, type JobRequest, queue } from '../../../src/kernel/jobs/queue.js';
import { createLog } from '../../../src/kernel/log.js';
import { systemContext } from '../../../src/start/system-context.js';
import { migratedDatabase } from '../../kit/databases.js';

/** A row of the table `job`, as the driver reads it. */
export interface JobRow {
  readonly id: string;
  readonly kind: string;
  readonly state: string;
  readonly attempts: number;
  readonly fence: string;
  readonly wake_at: Date | null;
  readonly error_code: string | null;
}

/** Nodes that do jobs on one database of their own. */
export class Nodes {
  private readonly runners: Jobs[] = [];

  private constructor(
    readonly url: string,
    readonly database: Database,
  ) {}

  static async open(url?: string): Promise<Nodes> {
    const at = url ?? (await migratedDatabase());
    const { entities } = assemble();
    return new Nodes(at, await Database.connect(at, { entities }, createLog('silent')));
  }

  /** A context of the service, with what jobs use of the kernel. */
  contextOf = (organizationId: string, wakeJobs?: () => void) =>
    systemContext({ database: this.database, ...(wakeJobs && { wakeJobs }) } as Kernel, organizationId);

  /** A further node. */
  async node(kinds: readonly JobKind[], parts: Partial<JobsParts> = {}): Promise<Jobs> {
    const node = new Jobs({
      database: this.database,
      kinds,
      contextOf: this.contextOf,
      log: createLog('silent'),
      lookEveryMs: 200,
      ...parts,
    });
    this.runners.push(node);
    await node.start();
    return node;
  }

  queue(kind: JobKind, keys: readonly string[], request: Partial<JobRequest> = {}, wakeJobs?: () => void) {
    return inTransaction(this.contextOf(NO_ID, wakeJobs), (tx) =>
      queue(
        tx,
        kind,
        keys.map((key) => ({ key, organizationId: null, ...request })),
      ),
    );
  }

  enqueueStanding(kind: JobKind, keys: readonly string[]): Promise<void> {
    return inTransaction(this.contextOf(NO_ID), (tx) =>
      enqueueStanding(
        tx,
        kind,
        keys.map((key) => ({ key, organizationId: null })),
      ),
    );
  }

  sql<R extends object>(text: string, params: readonly unknown[] = []): Promise<R[]> {
    return this.database.query<R>(text, params);
  }

  jobs(): Promise<JobRow[]> {
    return this.sql<JobRow>('select * from job order by dedupe_key');
  }

  /** No node, no job and no kind is left. */
  async clear(): Promise<void> {
    await Promise.all(this.runners.splice(0).map((runner) => runner.stop(500)));
    await this.sql('truncate job, job_attempt, job_kind');
  }

  async close(): Promise<void> {
    await Promise.all(this.runners.splice(0).map((runner) => runner.stop(500)));
    await this.database.close();
  }
}
