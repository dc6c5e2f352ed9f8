import { type Check, expectThat } from './check.ts';
import { withJobWorkers } from './job-workers.ts';

const JOBS = 500;
const SKEW_MS = 600_000;
const DUE_IN_SECONDS = 3;
const DONE_WITHIN_MS = 60_000;

export const check: Check = {
  id: 'C25',
  title: `nodes whose clocks are ten minutes ahead and behind do ${JOBS} jobs`,
  fullTimes: 3,
  needsQuiet: true,
  run: async (times) => {
    let latestMs = 0;
    await withJobWorkers(times, async (workers) => {
      const work = { stepMs: 5, steps: 1 };
      await Promise.all([workers.start({ ...work, aheadMs: SKEW_MS }), workers.start({ ...work, aheadMs: -SKEW_MS })]);
      await workers.queue(JOBS, DUE_IN_SECONDS);
      await workers.untilDone(DONE_WITHIN_MS);
      latestMs = Math.max(latestMs, await workers.latestMs());
      const { jobs, most } = await workers.effects();
      expectThat(jobs === JOBS && most === 1, `${jobs} jobs took effect, one of them ${most} times`);
      const [{ early, stolen } = { early: -1, stolen: -1 }] = await workers.sql<{ early: number; stolen: number }>(
        `select count(*) filter (where a.started_at < j.created_at + make_interval(secs => $1))::int as early,
           count(*) filter (where a.outcome <> 'done')::int as stolen
         from job_attempt a join job j on j.id = a.job_id where j.kind = 'test:work'`,
        [DUE_IN_SECONDS],
      );
      expectThat(early === 0, `${early} jobs began before they were due`);
      expectThat(stolen === 0, `${stolen} leases were lost`);
    });
    return `${times * JOBS} jobs done once, 0 early, 0 leases stolen; the latest began ${(latestMs / 1_000).toFixed(1)} s after it was due`;
  },
};
