import { until } from '../kit/until.ts';
import { type Check, expectThat, expectWithin } from './check.ts';
import { withJobWorkers } from './job-workers.ts';

const JOBS = 200;
const LEASE_MS = 1_000;
/** What a call reserves is more than the lease of this kind, and what a transaction of a job takes at most is more than that. */
const RESERVED_MS = 5_000;
const TRANSACTION_MS = 20_000;
/** A node looks for jobs so often. */
const LOOK_MS = 5_000;
const DONE_WITHIN_MS = 60_000;

/**
 * The longest that nothing was begun after the kill, without jobs whose work was committed by the killed node, and with them. What
 * was due before a lease ended comes first, however long that takes.
 */
const LONGEST_PAUSES = `
  with begun as (
    select a.started_at as at, exists (select from effect e where e.job_id = a.job_id and e.worker = $2) as was_committed
    from job_attempt a join job j on j.id = a.job_id where j.kind = 'test:work' and a.started_at > $1
    union all select $1::timestamptz, false
  ), pauses as (
    select was_committed, at - lag(at) over (order by at) as of_all, at - lag(at) over (partition by was_committed order by at) as of_kind from begun
  )
  select coalesce(extract(epoch from max(of_kind) filter (where not was_committed)), 0)::double precision * 1000 as "uncommittedMs",
    coalesce(extract(epoch from max(of_all)), 0)::double precision * 1000 as "anyMs" from pauses`;

const seconds = (milliseconds: number): string => `${(milliseconds / 1_000).toFixed(1)} s`;

export const check: Check = {
  id: 'C24',
  title: `one of two nodes is killed in the middle of ${JOBS} jobs`,
  fullTimes: 5,
  needsQuiet: true,
  run: async (times) => {
    let lost = 0;
    let repeated = 0;
    let slowestMs = 0;
    const pauses = { uncommittedMs: 0, anyMs: 0 };
    await withJobWorkers(times, async (workers) => {
      const work = { stepMs: 40, steps: 3 };
      const [victim] = await Promise.all([workers.start(work), workers.start(work)]);
      await workers.queue(JOBS);
      await until(
        'some of the jobs to be done',
        DONE_WITHIN_MS,
        async () => (await workers.effects()).jobs > JOBS / 10,
      );
      victim.kill('SIGKILL');
      const [killed] = await workers.sql<{ at: string }>('select clock_timestamp()::text as at');
      slowestMs = Math.max(slowestMs, await workers.untilDone(DONE_WITHIN_MS));
      const [found] = await workers.sql<typeof pauses>(LONGEST_PAUSES, [killed?.at, victim.pid]);
      pauses.uncommittedMs = Math.max(pauses.uncommittedMs, found?.uncommittedMs ?? Number.POSITIVE_INFINITY);
      pauses.anyMs = Math.max(pauses.anyMs, found?.anyMs ?? Number.POSITIVE_INFINITY);
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
    expectWithin(LEASE_MS + 15_000, slowestMs, 'all of it');
    expectWithin(RESERVED_MS + LOOK_MS, pauses.uncommittedMs, 'the takeover');
    expectWithin(TRANSACTION_MS + LOOK_MS, pauses.anyMs, 'the takeover of what was committed');
    return `${times * JOBS} jobs done, ${lost} taken over, ${repeated} of them after their work was committed, taken over within ${seconds(pauses.uncommittedMs)}, or ${seconds(pauses.anyMs)}; slowest ${seconds(slowestMs)}`;
  },
};
