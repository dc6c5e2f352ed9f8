import type { JobKind } from '../../../../kernel/jobs/job-kind.js';
import { replaceMarks } from '../../../../kernel/known-access/access-changes.sql.js';

const HOUR_SECONDS = 3_600;

/** Deletes the marks that changes of access have left. A node that has not seen them yet finds the one that is left in their place. */
export const ACCESS_CHANGES_JOB: JobKind = {
  name: 'access:delete-change-marks',
  description: 'Deletes the marks by which nodes notice changes of access.',
  everySeconds: HOUR_SECONDS,
  staysInside: true,
  concurrency: 1,
  run: async (_, run) => {
    await run.inTransaction((tx) => replaceMarks(tx, {}));
  },
};
