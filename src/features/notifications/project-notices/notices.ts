import type { Transaction } from '../../../kernel/context.js';
import { enqueueStandingAfterCommit, type JobRequest } from '../../../kernel/jobs/queue.js';
import { markUnwritten } from './notice.queries.js';
import type { NoticeFacts, NoticeKind } from './notice.rules.js';
import { insertNotices } from './notice.sql.js';

/** An event to notify a project of, once per occurrence. */
interface NewNotice {
  readonly organizationId: string;
  /** Null: notify the admins of the organization. */
  readonly projectId: string | null;
  /** ID of the subject, such as a secret or a token. */
  readonly subjectId: string;
  /** Distinguishes events of the same subject: the day of a repeated event, or another key. */
  readonly occurrence: string;
  readonly facts: NoticeFacts;
}

/** Writes the messages of a project or organization. */
export const WRITE_MESSAGES = {
  name: 'project-notices:tell',
  description: 'Writes the messages for new notices of a project or an organization.',
} as const;

/** A project or organization with notices that nobody was told. */
export interface Owner {
  readonly organizationId: string;
  readonly projectId: string | null;
  readonly ownerId: string;
}

/** One standing job for each owner. */
export const writeJobsOf = (owners: readonly Owner[]): JobRequest[] =>
  owners.map(({ ownerId, ...owner }) => ({ key: ownerId, subjectId: ownerId, ...owner }));

/**
 * Stores notices in the transaction of the event, in one statement however many there are. After the commit they go to the channels
 * that send this kind, by email to the people that they name, and, without either, by email to the admins. Notices that exist are
 * skipped.
 */
export async function notify(tx: Transaction, kind: NoticeKind, notices: readonly NewNotice[]): Promise<void> {
  if (notices.length === 0) return;
  const owners = await insertNotices(tx, {
    kind,
    organizationIds: notices.map(({ organizationId }) => organizationId),
    projectIds: notices.map(({ projectId }) => projectId),
    subjectIds: notices.map(({ subjectId }) => subjectId),
    occurrences: notices.map(({ occurrence }) => occurrence),
    facts: notices.map(({ facts }) => JSON.stringify(facts)),
  });
  await enqueueWriting(tx, owners);
}

/** For so many days after an event, its messages that were not accepted are sent again. */
export const UNSENT_DAYS = 7;

/** Sends the notices of an owner again whose messages failed or were cancelled, by the channels that it has now. */
export async function notifyAgain(tx: Transaction, owner: Owner): Promise<void> {
  if ((await markUnwritten(tx, { ownerId: owner.ownerId, days: UNSENT_DAYS })).length > 0)
    await enqueueWriting(tx, [owner]);
}

/** Has the messages of owners written after the commit. */
export const enqueueWriting = (tx: Transaction, owners: readonly Owner[]): Promise<void> =>
  // In the transaction, all that notify the same project would wait for the one row of its job and, with a lock on the project, deadlock.
  enqueueStandingAfterCommit(tx, WRITE_MESSAGES, writeJobsOf(owners));
