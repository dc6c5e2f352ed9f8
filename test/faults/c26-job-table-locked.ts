import { setTimeout as delay } from 'node:timers/promises';
import { withClient } from '../kit/tables.ts';
import { until } from '../kit/until.ts';
import { type Check, expectThat, expectWithin } from './check.ts';
import { withJobWorkers } from './job-workers.ts';
import { type StoreApart, withStoreApart } from './store-apart.ts';

/** What a node has in hand when the table is locked, and what becomes due meanwhile. */
const JOBS = 40;
const DUE_IN_SECONDS = 20;
const HELD_MS = 60_000;
const EVERY_MS = 500;
const STARTS_WITHIN_MS = 15_000;
const DONE_WITHIN_MS = 60_000;
const WORK = { stepMs: 50, steps: 2, leaseSeconds: 5 };

export const check: Check = {
  id: 'C26',
  title: `Agenda's table is locked for ${HELD_MS / 1_000} s while work is asked for`,
  fullTimes: 3,
  needsQuiet: true,
  run: async (times, given) => {
    if (given !== null) return apart(times, given);
    return [await own(times), `apart: ${await withStoreApart('postgres', (store) => apart(times, store))}`].join('; ');
  },
};

/** The table of the service itself: what is asked for waits with it, and nothing of it is lost. */
async function own(times: number): Promise<string> {
  let lost = 0;
  let repeated = 0;
  let afterMs = 0;
  await withJobWorkers(times, async (workers) => {
    await Promise.all([workers.start(WORK), workers.start(WORK)]);
    await workers.queue(JOBS, DUE_IN_SECONDS);
    await workers.queue(JOBS);
    await until('work in hand', DONE_WITHIN_MS, async () => (await workers.effects()).jobs > 0);
    const asked = await withClient(workers.url, async (client) => {
      await client.query('begin; lock table job in access exclusive mode');
      const waiting = workers.queue(JOBS);
      await delay(HELD_MS);
      await client.query('rollback');
      return waiting;
    });
    await asked;
    afterMs = Math.max(afterMs, await workers.untilDone(DONE_WITHIN_MS));
    const { jobs } = await workers.effects();
    expectThat(jobs === 3 * JOBS, `${jobs} of ${3 * JOBS} jobs took effect`);
    // Work that was committed before the lock, while what says so waited for longer than the lease. It has keys of its own for that.
    const again = await workers.sql<{ isLost: boolean; effects: number }>(
      `select count(*)::int as effects, job_id in (select job_id from job_attempt where outcome = 'lost') as "isLost"
       from effect group by job_id having count(*) > 1`,
    );
    expectThat(
      again.every(({ isLost, effects }) => isLost && effects === 2),
      `${again.length} jobs took effect again, and not only because their lease was over`,
    );
    repeated += again.length;
    lost += (await workers.outcomes()).filter((outcome) => outcome === 'lost').length;
  });
  expectWithin(DONE_WITHIN_MS, afterMs, 'all of it');
  return `${times * 3 * JOBS} jobs took effect, ${lost} attempts lost, ${repeated} of them after their work was committed, the last done ${seconds(afterMs)} after the lock`;
}

/** A table or a server apart: nodes find in the table of the service what is due. */
async function apart(times: number, store: StoreApart): Promise<string> {
  let done = 0;
  let latestMs = 0;
  await withJobWorkers(times, async (workers) => {
    await Promise.all([workers.start(WORK), workers.start(WORK)]);
    await workers.queue(JOBS, DUE_IN_SECONDS);
    await workers.queue(JOBS);
    const letGo = await store.hold();
    let asked = 2 * JOBS;
    for (const end = performance.now() + HELD_MS; performance.now() < end; asked += 1) {
      await workers.queue(1);
      await delay(EVERY_MS);
    }
    // Before it is let go: nothing waited for that.
    await workers.untilDone(STARTS_WITHIN_MS);
    await letGo();
    latestMs = Math.max(latestMs, await workers.latestMs());
    await workers.expectOnce(asked);
    done += asked;
    await workers.untilUsed(store, DONE_WITHIN_MS);
  });
  expectWithin(STARTS_WITHIN_MS, latestMs, 'the start of the last');
  return `${done} jobs done once, the latest begun ${seconds(latestMs)} after it was due, and the store was used again`;
}

const seconds = (milliseconds: number): string => `${(milliseconds / 1_000).toFixed(1)} s`;
