import { NO_ID } from '../../../kernel/ids.js';
import type { JobKind } from '../../../kernel/jobs/job-kind.js';
import { findUndelivered, listUnsentOwnerIds } from '../deliveries/public.js';
import { listOwnerNames } from './notice.sql.js';
import { notify } from './notices.js';

const AT_ONCE = 100;

/** Notifies admins of organizations of alerts and projects whose notifications reach nobody: once a day for each. */
export const FIND_UNDELIVERED: JobKind = {
  name: 'project-notices:find-undelivered',
  description: 'Notifies the admins of organizations of alerts and projects whose notifications reach nobody.',
  everySeconds: 600,
  staysInside: true,
  run: async (ctx, run) => {
    for (let after = NO_ID; ; ) {
      const ids = (await listUnsentOwnerIds(ctx, { after, most: AT_ONCE })).map(({ id }) => id);
      const last = ids.at(-1);
      if (last === undefined) return;
      const found = new Map((await findUndelivered(ctx, { ownerIds: ids })).map((one) => [one.ownerId, one]));
      const owners = await listOwnerNames(ctx, { ids: [...found.keys()] });
      const notices = owners.flatMap(({ id, organizationId, type, name, projectName, today }) => {
        const undelivered = found.get(id);
        if (undelivered === undefined) return [];
        const fields = {
          'Sent by': type,
          ...(projectName === null ? {} : { Project: projectName }),
          Since: undelivered.since.toISOString(),
          Messages: String(undelivered.count),
          ...(undelivered.errorCode === null ? {} : { Error: undelivered.errorCode }),
        };
        return [{ organizationId, projectId: null, subjectId: id, occurrence: today, facts: { name, fields } }];
      });
      await run.inTransaction((tx) => notify(tx, 'delivery-failure', notices));
      after = last;
    }
  },
};
