import { setTimeout as delay } from 'node:timers/promises';
import { until } from '../kit/until.ts';
import { type Check, expectThat } from './check.ts';
import { withJobWorkers } from './job-workers.ts';

/** Long enough for a busy machine, which may not lose it before the node stands still: each node has one attempt. */
const LEASE_SECONDS = 3;
const LEASES_MS = 3 * LEASE_SECONDS * 1_000;
const LATE_WITHIN_MS = 3_000;
const DONE_WITHIN_MS = 30_000;

export const check: Check = {
  id: 'C23',
  title: 'a node stands still for three leases in the middle of a job, then goes on',
  fullTimes: 20,
  run: async (times) => {
    let lateCalls = 0;
    await withJobWorkers(times, async (workers) => {
      const first = await workers.start({ stepMs: 100, steps: 100, leaseSeconds: LEASE_SECONDS });
      await workers.queue(1);
      await until('the first call', DONE_WITHIN_MS, async () => (await workers.sql('select from call')).length > 0);
      first.kill('SIGSTOP');
      const second = await workers.start({ stepMs: 10, steps: 2, leaseSeconds: LEASE_SECONDS });
      await delay(LEASES_MS);
      await workers.untilDone(DONE_WITHIN_MS);
      const [{ now } = {}] = await workers.sql<{ now: Date }>('select clock_timestamp() as now');
      first.kill('SIGCONT');
      await delay(LATE_WITHIN_MS);
      const effects = await workers.sql<{ worker: number }>('select worker from effect');
      expectThat(effects.length === 1 && effects[0]?.worker === second.pid, `effects: ${JSON.stringify(effects)}`);
      const late = await workers.sql('select from call where worker = $1 and at > $2', [first.pid, now]);
      // The call that was under way when it was stopped may still arrive.
      expectThat(late.length <= 1, `${late.length} calls after its lease was taken over`);
      lateCalls += late.length;
      const outcomes = (await workers.outcomes()).join();
      expectThat(outcomes === 'lost,done', `the attempts ended with ${outcomes}`);
    });
    return `one finish each, 0 late writes, ${lateCalls} calls that were under way`;
  },
};
