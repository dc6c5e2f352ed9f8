import { settledSequence } from '../../../../kernel/audit/settled.js';
import { queryOf } from '../../../../kernel/database/database.js';
import type { JobKind } from '../../../../kernel/jobs/job-kind.js';
import { listUncovered } from './checkpoint.queries.js';
import { makeCheckpoint } from './making.js';

/** Makes checkpoints, so that there are some even if nobody asks for one. */
export const CHECKPOINT_JOB: JobKind = {
  name: 'audit-events:make-checkpoints',
  description: 'Makes signed checkpoints of the audit trail of organizations with new events, hourly.',
  everySeconds: 3_600,
  limitSeconds: 1_800,
  run: async (ctx, run) => {
    const settled = String(await settledSequence(queryOf(ctx)));
    for (const { id } of await listUncovered(ctx, { settled }))
      for (let isMore = true; isMore && !run.signal.aborted; )
        ({ isMore } = await run.inTransaction((tx) => makeCheckpoint(tx), run.contextOf(id)));
  },
};
