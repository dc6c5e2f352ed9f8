import { until } from '../kit/until.ts';
import { type Check, expectThat, expectWithin } from './check.ts';
import { withJobWorkers } from './job-workers.ts';
import type { StoreApart } from './store-apart.ts';

const JOBS = 200;
const LEFT_JOBS = 20;
const HOUR_MS = 3_600_000;
const DUE_IN_SECONDS = 3;
/** Time to put them in the store, and to kill the node. */
const LEFT_DUE_IN_SECONDS = 10;
const DONE_WITHIN_MS = 60_000;
/** Less than what the store has forgotten waits, so that this would be seen. */
const LATE_MS = 2_500;
/** What finds no place waits for five seconds, and then for all that is before it. */
const STARTS_WITHIN_MS = 15_000;

/** How far the clock of the node beside the right one is ahead. */
const CLOCKS = { right: 0, 'an hour ahead': HOUR_MS, 'an hour behind': -HOUR_MS } as const;

interface Latest {
  readonly togetherMs: number;
  readonly leftMs: number;
}

export const check: Check = {
  id: 'C25',
  title: `beside a right node one whose clock is an hour wrong, for ${JOBS} jobs, and then ${LEFT_JOBS} that it queues before it is killed`,
  fullTimes: 3,
  needsQuiet: true,
  run: async (times, store) => {
    const told: string[] = [];
    let right: Latest | undefined;
    for (const [name, aheadMs] of Object.entries(CLOCKS)) {
      const latest = await beside(name, { aheadMs, times, store });
      told.push(
        `${name}: the latest began after ${seconds(latest.togetherMs)}, and of what it left after ${seconds(latest.leftMs)}`,
      );
      right ??= latest;
      expectWithin(STARTS_WITHIN_MS, latest.togetherMs, `${name}: the start of the last`);
      expectWithin(right.leftMs + LATE_MS, latest.leftMs, `${name}: the start of what it left`);
    }
    return `${3 * times * (JOBS + LEFT_JOBS)} jobs done once, 0 early; ${told.join('; ')}`;
  },
};

async function beside(
  name: string,
  { aheadMs, times, store }: { readonly aheadMs: number; readonly times: number; readonly store: StoreApart | null },
): Promise<Latest> {
  const latest = { togetherMs: 0, leftMs: 0 };
  await withJobWorkers(times, async (workers) => {
    // A busy machine may not lose one.
    const work = { stepMs: 5, steps: 1, leaseSeconds: 10 };
    await workers.start(work);
    const other = await workers.start({ ...work, aheadMs });
    const done = async (count: number): Promise<number> => {
      await workers.untilDone(DONE_WITHIN_MS);
      await workers.expectOnce(count, name);
      const early = await workers.sql(
        `select from job_attempt a join job j on j.id = a.job_id where j.kind = 'test:work' and a.started_at < j.give_up_from`,
      );
      expectThat(early.length === 0, `${name}: ${early.length} jobs began before they were due`);
      return workers.latestMs();
    };
    await workers.queue(JOBS, DUE_IN_SECONDS);
    latest.togetherMs = Math.max(latest.togetherMs, await done(JOBS));
    await workers.clear();
    await workers.queue(LEFT_JOBS, LEFT_DUE_IN_SECONDS, [other]);
    await until('the jobs in the store', DONE_WITHIN_MS, async () => {
      const jobs = await store?.jobs();
      return jobs === undefined || jobs.filter((job) => job.includes('test:work')).length === LEFT_JOBS;
    });
    other.kill('SIGKILL');
    latest.leftMs = Math.max(latest.leftMs, await done(LEFT_JOBS));
  });
  return latest;
}

const seconds = (milliseconds: number): string => `${(milliseconds / 1_000).toFixed(1)} s`;
