import { setTimeout as delay } from 'node:timers/promises';
import { type JobKind, type JobRun, PermanentFailure } from '../../../src/kernel/jobs/job-kind.js';
import { until } from '../../kit/until.js';
import { Nodes } from './runners.js';

const WAIT_MS = 50_000;
const kindOf = (run: JobKind['run'], settings: Partial<JobKind> = {}): JobKind => ({
  name: 'test:work',
  description: 'Work of a test.',
  leaseSeconds: 3,
  retry: { firstSeconds: 0.1, longestSeconds: 0.2, attempts: 3 },
  run,
  ...settings,
});

/** Ends when the job is aborted, or not at all. */
const untilAborted = ({ signal }: JobRun): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve()));

let nodes: Nodes;
beforeAll(async () => {
  nodes = await Nodes.open();
});
afterEach(() => nodes.clear());
afterAll(() => nodes.close());

const states = async () => (await nodes.jobs()).map(({ state }) => state);
const allAre = (state: string) =>
  until(`jobs that are ${state}`, WAIT_MS, async () => (await states()).every((each) => each === state));

describe('a standing job', () => {
  const ask = (kind: JobKind) => nodes.enqueueStanding(kind, ['one']);

  test('is one for its key, runs each time that it is asked for, and once more when that was while it ran', async () => {
    let runs = 0;
    let release: () => void = () => undefined;
    // A lease that is long enough for a busy machine: one that is lost would be a run more.
    const kind = kindOf(
      async () => {
        runs += 1;
        if (runs === 2) await new Promise<void>((resolve) => (release = resolve));
      },
      { leaseSeconds: 30 },
    );
    await nodes.node([kind]);
    await ask(kind);
    await until('the first run', WAIT_MS, async () => (await states()).join() === 'done');
    await ask(kind);
    await until('the second run', WAIT_MS, () => runs === 2);
    // They wait for each other at its row, and in the pool, for a few seconds at most.
    await Promise.all(Array.from({ length: 40 }, () => ask(kind)));
    release();
    await until('the third run', WAIT_MS, () => runs === 3);
    await allAre('done');
    await delay(500);
    expect(runs).toBe(3);
    expect(await nodes.jobs()).toMatchObject([{ state: 'done', error_code: null }]);
  });

  test('that failed keeps its pause when it is asked for', async () => {
    let runs = 0;
    const kind = kindOf(
      async () => {
        runs += 1;
        throw new Error('no');
      },
      { retry: { firstSeconds: 600, longestSeconds: 600, attempts: 1_000 } },
    );
    await nodes.node([kind]);
    await ask(kind);
    await until('the failure', WAIT_MS, async () => runs === 1 && (await states()).join() === 'waiting');
    await ask(kind);
    await delay(600);
    expect(runs).toBe(1);
  });

  test('runs once more when it was asked for while it ran, also when that run failed for good', async () => {
    let runs = 0;
    let release: () => void = () => undefined;
    const kind = kindOf(async () => {
      runs += 1;
      if (runs > 1) return;
      await new Promise<void>((resolve) => (release = resolve));
      throw new PermanentFailure('TEST_FAILURE');
    });
    await nodes.node([kind]);
    await ask(kind);
    await until('the first run', WAIT_MS, () => runs === 1);
    await ask(kind);
    release();
    await allAre('done');
    expect(runs).toBe(2);
  });

  test('runs once more when it was asked for after it was told to stop, and not when that was before', async () => {
    for (const asksAfter of [true, false]) {
      let runs = 0;
      const kind = kindOf(
        async (_, run) => {
          runs += 1;
          if (runs === 1) await untilAborted(run);
        },
        { name: `test:stopped-${asksAfter}` },
      );
      const cancel = () =>
        nodes.sql(`update job set is_cancel_requested = true, is_asked_again = false where kind = $1`, [kind.name]);
      await nodes.node([kind]);
      await ask(kind);
      await until('the first run', WAIT_MS, () => runs === 1);
      if (!asksAfter) await ask(kind);
      await cancel();
      if (asksAfter) await ask(kind);
      await until('the end', WAIT_MS, async () =>
        (await states()).every((state) => ['done', 'cancelled'].includes(state)),
      );
      expect(runs).toBe(asksAfter ? 2 : 1);
    }
  });

  test('says itself when it has more to do, and comes earlier when it is asked for', async () => {
    let runs = 0;
    const kind = kindOf(async () => {
      runs += 1;
      return runs < 3 ? { againInSeconds: runs === 1 ? 0.3 : 3_600 } : undefined;
    });
    await nodes.node([kind]);
    await ask(kind);
    await until('the second run', WAIT_MS, async () => runs === 2 && (await states()).join() === 'waiting');
    expect(await nodes.jobs()).toMatchObject([{ attempts: 0 }]);
    await ask(kind);
    await allAre('done');
    expect(runs).toBe(3);
  });

  test('keeps its last hundred attempts', async () => {
    let runs = 0;
    const kind = kindOf(async () => {
      runs += 1;
      return runs < 120 ? { againInSeconds: 0 } : undefined;
    });
    await nodes.node([kind]);
    await ask(kind);
    await allAre('done');
    const [kept] = await nodes.sql('select count(*)::integer, max(fence)::integer as last from job_attempt');
    expect(kept).toEqual({ count: 100, last: 120 });
  });
});
