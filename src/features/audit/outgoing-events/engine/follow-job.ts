import { settledSequence } from '../../../../kernel/audit/settled.js';
import type { Context, Transaction } from '../../../../kernel/context.js';
import { queryOf } from '../../../../kernel/database/database.js';
import { inTransaction } from '../../../../kernel/database/in-transaction.js';
import { AppError } from '../../../../kernel/errors.js';
import { NO_ID } from '../../../../kernel/ids.js';
import type { JobKind } from '../../../../kernel/jobs/job-kind.js';
import { enqueueStanding } from '../../../../kernel/jobs/queue.js';
import type { Outlet } from './target.js';
import { countEnabled, listBehind } from './target-progress.sql.js';

const NAME = 'outgoing-events:follow';
const PAUSE_SECONDS = 1;
const HAS_TARGETS =
  'Change webhooks and audit sinks are delivered only as long as this job runs. Disable them, or pause the kind of jobs with pauseJobKind.';

/** Has the job run that follows the trail, of which there is one for the installation. */
export const followTrail = (tx: Transaction): Promise<void> =>
  enqueueStanding(tx, { name: NAME }, [{ key: 'all', organizationId: null }]);

/** The job that wakes the jobs of targets when there are new events for them, as long as there are targets. */
export const followJob = (outlets: readonly Pick<Outlet, 'job' | 'table'>[]): JobKind => ({
  name: NAME,
  description:
    'Starts the delivery of new events to change webhooks and audit sinks, every second while there are any.',
  staysInside: true,
  concurrency: 1,
  retry: { firstSeconds: 1, longestSeconds: 60, attempts: 1_000_000 },
  onCancel: async (tx) => {
    const [{ enabled = 0 } = {}] = await countEnabled(tx, {});
    if (enabled > 0) throw new AppError('JOB_IS_NEEDED', HAS_TARGETS);
  },
  run: async (ctx, run) => {
    const settled = String(await settledSequence(queryOf(ctx)));
    await run.inTransaction(async (tx) => {
      for (const { job, table } of outlets) {
        const targets = await listBehind({ table })(tx, { settled });
        await enqueueStanding(
          tx,
          job,
          targets.map((target) => ({ ...target, key: target.id, subjectId: target.id })),
        );
      }
    });
    const [{ enabled = 0 } = {}] = await countEnabled(ctx, {});
    return enabled === 0 ? undefined : { againInSeconds: PAUSE_SECONDS };
  },
});

/** Has the trail followed from the start of the service if there are targets: the job may have been cancelled. */
export async function resumeFollowing(contextOf: (organizationId: string) => Context): Promise<void> {
  const ctx = contextOf(NO_ID);
  const [{ enabled = 0 } = {}] = await countEnabled(ctx, {});
  if (enabled > 0) await inTransaction(ctx, followTrail);
}
