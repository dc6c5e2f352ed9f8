import type { Transaction } from '../context.js';
import { newId } from '../ids.js';
import { queueJobs } from './job.sql.js';
import type { JobKind } from './job-kind.js';

declare module '../context.js' {
  interface Kernel {
    /** Looks for due jobs on this node at once, not at the next poll. Absent where no jobs run. */
    readonly wakeJobs?: () => void;
  }
}

/** Work for later. */
export interface JobRequest {
  /** Of two jobs of a kind with one key there is only the first, for as long as its row is kept: 30 days after it finished. */
  readonly key: string;
  /** Null: about the installation. */
  readonly organizationId: string | null;
  readonly projectId?: string | null;
  readonly subjectId?: string | null;
  /** Absent: at once. */
  readonly dueAt?: Date | null;
}

/**
 * Queues jobs in the transaction, in one statement: they exist when it commits, and start right after that.
 *
 * @returns ids of those that are new; keys that were there already queue nothing
 */
export async function queue(
  tx: Transaction,
  { name, retry }: Pick<JobKind, 'name' | 'retry'>,
  requests: readonly JobRequest[],
): Promise<string[]> {
  const queued = await queueJobs(tx, {
    kind: name,
    giveUpSeconds: retry?.giveUpSeconds ?? null,
    ids: requests.map(() => newId()),
    organizationIds: requests.map(({ organizationId }) => organizationId),
    projectIds: requests.map(({ projectId = null }) => projectId),
    keys: requests.map(({ key }) => key),
    subjectIds: requests.map(({ subjectId = null }) => subjectId),
    dueAt: requests.map(({ dueAt = null }) => dueAt),
  });
  const { wakeJobs } = tx;
  if (queued.length > 0 && wakeJobs !== undefined) tx.afterCommit.push(wakeJobs);
  return queued.map(({ id }) => id);
}
