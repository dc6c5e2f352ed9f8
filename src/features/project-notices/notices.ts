import type { Transaction } from '../../kernel/context.js';
import { newId } from '../../kernel/ids.js';
import { queue } from '../../kernel/jobs/queue.js';
import type { NoticeFacts, NoticeKind } from './notice.rules.js';
import { insertNotices } from './notice.sql.js';

/** Something to notify a project of, once for each occurrence. */
export interface NewNotice {
  readonly organizationId: string;
  /** Null: the admins of the organization are notified. */
  readonly projectId: string | null;
  /** What it is about, such as a secret or a token. */
  readonly subjectId: string;
  /** The day of something that is repeated, or another name of what happened. */
  readonly occurrence: string;
  readonly facts: NoticeFacts;
}

/** The job that writes the messages of a project or an organization. */
export const WRITE_MESSAGES = {
  name: 'project-notices:tell',
  description: 'Writes the messages that notify a project, or the admins of an organization, of what happened.',
} as const;

/**
 * Notifies projects of something in the transaction of who knows it, in two statements however many there are: by their channels that
 * take this kind, by mail to those who are named, and without either by mail to the admins, as they are found after the commit.
 * What they were notified of before is left out.
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
  // Not a standing job, whose one row all that notify the same project would wait for: with a lock on the project, they and it for each other.
  await queue(
    tx,
    WRITE_MESSAGES,
    owners.map(({ ownerId, ...owner }) => ({ key: `${ownerId} ${newId()}`, subjectId: ownerId, ...owner })),
  );
}
