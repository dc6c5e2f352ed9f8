import type { JobKind } from '../../../kernel/jobs/job-kind.js';
import { replaceMarks } from '../../../kernel/known-access/access-changes.sql.js';

const DAY_SECONDS = 86_400;

/** Deletes the marks that changes of access have left, which each node has seen long ago, or looks for no more. */
export const ACCESS_CHANGES_JOB: JobKind = {
  name: 'access:delete-change-marks',
  description: 'Deletes the marks by which nodes notice changes of access.',
  everySeconds: DAY_SECONDS,
  staysInside: true,
  concurrency: 1,
  run: async (_, run) => {
    await run.inTransaction((tx) => replaceMarks(tx, {}));
  },
};
