import type { Transaction } from '../../kernel/context.js';
import { newId } from '../../kernel/ids.js';
import { queue } from '../../kernel/jobs/queue.js';
import type { NoticeFacts, NoticeKind } from './notice.rules.js';
import { insertNotices } from './notice.sql.js';

/** An event to notify a project of, once per occurrence. */
export interface NewNotice {
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

/**
 * Stores notices in the transaction of the event, in two statements however many there are. After the commit they go to the channels
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
  // Not a standing job: all transactions that notify the same project would wait for its one row and, with a lock on the project, deadlock.
  await queue(
    tx,
    WRITE_MESSAGES,
    owners.map(({ ownerId, ...owner }) => ({ key: `${ownerId} ${newId()}`, subjectId: ownerId, ...owner })),
  );
}
