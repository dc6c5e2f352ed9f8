import { setTimeout as delay } from 'node:timers/promises';
import { type Check, expectWithin } from './check.ts';
import { withJobWorkers } from './job-workers.ts';
import { type StoreApart, withStoreApart } from './store-apart.ts';

const JOBS = 40;
const WIPES = 10;
const DUE_IN_SECONDS = 3;
const STARTS_WITHIN_MS = 15_000;
const DONE_WITHIN_MS = 60_000;

export const check: Check = {
  id: 'C26',
  title: `the store of JOBS_URL loses everything ${WIPES} times, while jobs wait and run`,
  fullTimes: 3,
  needsQuiet: true,
  run: (times, given) =>
    given === null ? withStoreApart('postgres', (store) => wiping(times, store)) : wiping(times, given),
};

async function wiping(times: number, store: StoreApart): Promise<string> {
  let lost = 0;
  let latestMs = 0;
  await withJobWorkers(times, async (workers) => {
    const work = { stepMs: 50, steps: 2, leaseSeconds: 5 };
    await Promise.all([workers.start(work), workers.start(work)]);
    for (let wipe = 0; wipe < WIPES; wipe += 1) {
      await workers.queue(JOBS, DUE_IN_SECONDS);
      await delay((DUE_IN_SECONDS * 1_000 * wipe) / WIPES);
      lost += (await store.jobs()).length;
      await store.wipe();
    }
    await workers.untilDone(DONE_WITHIN_MS);
    latestMs = Math.max(latestMs, await workers.latestMs());
    await workers.expectOnce(WIPES * JOBS);
    await workers.untilUsed(store, DONE_WITHIN_MS);
  });
  expectWithin(STARTS_WITHIN_MS, latestMs, 'the start of the last');
  return `${times * WIPES * JOBS} jobs done once, ${lost} of them lost by the store; the latest began ${(latestMs / 1_000).toFixed(1)} s after it was due`;
}
