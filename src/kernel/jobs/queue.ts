import type { Transaction } from '../context.js';
import { newId } from '../ids.js';
import { enqueueStandingJobs, queueJobs, wakeJobs } from './job.sql.js';
import type { JobKind, WaitReason } from './job-kind.js';

/** Work for later. */
export interface JobRequest {
  /** Of two jobs of a kind with one key there is only the first, for as long as its row is kept: 30 days after it finished. */
  readonly key: string;
  /** Null: about the installation. */
  readonly organizationId: string | null;
  readonly projectId?: string | null;
  readonly subjectId?: string | null;
  /** The external system that it calls, by any name that is one for all jobs of the organization that call it. Absent: none. */
  readonly target?: string | null;
  /** Somebody waits for it: it takes the urgent slots of its kind, for its first attempts. */
  readonly isUrgent?: boolean;
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
  const queued = await queueJobs(tx, { ...columnsOf(name, requests), giveUpSeconds: retry?.giveUpSeconds ?? null });
  wakeAfterCommit(tx, queued);
  return queued.map(({ id }) => id);
}

/**
 * Has standing jobs run, of which there is one for each key: whoever asks for its work while it runs makes it run once more, and
 * who asks while it waits changes nothing. For work that looks for itself what is to be done.
 */
export async function enqueueStanding(
  tx: Transaction,
  { name }: Pick<JobKind, 'name'>,
  requests: readonly JobRequest[],
): Promise<void> {
  if (requests.length > 0) wakeAfterCommit(tx, await enqueueStandingJobs(tx, columnsOf(name, requests)));
}

/**
 * The same once the transaction has committed, so that it waits for no other that asks for the same job. A node that dies right after
 * the commit forgets it: only for work that a recurring job finds as well.
 */
export async function enqueueStandingAfterCommit(
  tx: Transaction,
  kind: Pick<JobKind, 'name'>,
  requests: readonly JobRequest[],
): Promise<void> {
  const { enqueueStandingLater } = tx;
  if (enqueueStandingLater === undefined) return enqueueStanding(tx, kind, requests);
  if (requests.length > 0) tx.afterCommit.push(() => enqueueStandingLater(kind.name, requests));
}

const columnsOf = (kind: string, requests: readonly JobRequest[]) => ({
  kind,
  ids: requests.map(() => newId()),
  organizationIds: requests.map(({ organizationId }) => organizationId),
  projectIds: requests.map(({ projectId = null }) => projectId),
  keys: requests.map(({ key }) => key),
  subjectIds: requests.map(({ subjectId = null }) => subjectId),
  targets: requests.map(({ target = null }) => target),
  areUrgent: requests.map(({ isUrgent = false }) => isUrgent),
  dueAt: requests.map(({ dueAt = null }) => dueAt),
});

/** All that waited for the same may not begin at once. */
const SPREAD_SECONDS = 10;

/** Has the jobs of an organization run that wait for a reason which is gone, within some seconds. @param target null: of all */
export async function wakeWaiting(
  tx: Transaction,
  {
    organizationId,
    reason,
    target = null,
  }: { readonly organizationId: string; readonly reason: WaitReason; readonly target?: string | null },
): Promise<void> {
  wakeAfterCommit(tx, await wakeJobs(tx, { organizationId, reason, target, spreadSeconds: SPREAD_SECONDS }));
}

/** For jobs that a statement of its own has queued or asked for: this node looks for them after the commit. */
export function wakeAfterCommit(
  { wakeJobs, afterCommit }: Transaction,
  asked: readonly { readonly id: string }[],
): void {
  if (asked.length > 0 && wakeJobs !== undefined) afterCommit.push(() => wakeJobs(asked.map(({ id }) => id)));
}
