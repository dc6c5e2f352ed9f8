import type { JobKind } from '../../../kernel/jobs/job-kind.js';
import { takeDueReminders } from './notice.sql.js';
import { notify } from './notices.js';

const AT_ONCE = 500;

/** Notifies projects of due reminders of secrets; reminders missed during downtime cause one notice. */
export const REMIND: JobKind = {
  name: 'project-notices:remind',
  description: 'Notifies projects of due reminders of secrets, daily at midnight UTC.',
  everySeconds: 86_400,
  run: async (_, run) => {
    for (let taken = AT_ONCE; taken === AT_ONCE; )
      taken = await run.inTransaction(async (tx) => {
        const due = await takeDueReminders(tx, { most: AT_ONCE });
        await notify(
          tx,
          'secret-reminder',
          due.map(({ id, organizationId, projectId, key, note, recipientIds, environment, path, day }) => ({
            organizationId,
            projectId,
            subjectId: id,
            occurrence: day,
            facts: {
              name: key,
              fields: { Environment: environment, Folder: path, ...(note === null ? {} : { Note: note }) },
              recipientIds: [...recipientIds],
            },
          })),
        );
        return due.length;
      });
  },
};
