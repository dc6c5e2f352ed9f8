import { setTimeout as delay } from 'node:timers/promises';
import { type Check, expectThat, expectWithin } from './check.ts';
import { withJobWorkers } from './job-workers.ts';

const JOBS = 200;
const LEASE_MS = 1_000;
const DONE_WITHIN_MS = 60_000;

export const check: Check = {
  id: 'C24',
  title: `one of two nodes is killed in the middle of ${JOBS} jobs`,
  fullTimes: 5,
  run: async (times) => {
    let lost = 0;
    let repeated = 0;
    let slowestMs = 0;
    await withJobWorkers(times, async (workers) => {
      const work = { stepMs: 40, steps: 3 };
      const [victim] = await Promise.all([workers.start(work), workers.start(work)]);
      await workers.queue(JOBS);
      await delay(5_500);
      victim.kill('SIGKILL');
      slowestMs = Math.max(slowestMs, await workers.untilDone(DONE_WITHIN_MS));
      const { jobs } = await workers.effects();
      expectThat(jobs === JOBS, `${jobs} jobs took effect`);
      // A node may die after it has committed the work of a job, and before it says so. Work has keys of its own for that.
      const again = await workers.sql<{ count: number; killed: number }>(
        `select count(*)::int as count, (count(*) filter (where worker = $1))::int as killed from effect group by job_id having count(*) > 1`,
        [victim.pid],
      );
      const isOfVictim = again.every(({ count, killed }) => count === 2 && killed === 1);
      expectThat(isOfVictim, `${again.length} jobs took effect again, and not only because their node was killed`);
      repeated += again.length;
      const outcomes = await workers.outcomes();
      lost += outcomes.filter((outcome) => outcome !== null && outcome !== 'done').length;
      const open = outcomes.filter((outcome) => outcome === null).length;
      expectThat(open === 0, `${open} attempts never ended`);
    });
    // What was queued behind it takes a while too.
    expectWithin(LEASE_MS + 15_000, slowestMs, 'the takeover');
    return `${times * JOBS} jobs done, ${lost} taken over, ${repeated} of them after their work was committed, slowest ${(slowestMs / 1_000).toFixed(1)} s`;
  },
};
