import { setTimeout as delay } from 'node:timers/promises';
import { queryOf } from '../../../src/kernel/database/database.js';
import { AppError } from '../../../src/kernel/errors.js';
import { registerKinds, scheduleKinds } from '../../../src/kernel/jobs/job.sql.js';
import { type JobKind, type JobRun, LeaseLost, PermanentFailure } from '../../../src/kernel/jobs/job-kind.js';
import { until } from '../../kit/until.js';
import { Nodes } from './runners.js';

const WAIT_MS = 50_000;
/** A schedule that seldom comes due while it is looked at. */
const DAY_SECONDS = 86_400;
const kindOf = (run: JobKind['run'], settings: Partial<JobKind> = {}): JobKind => ({
  name: 'test:work',
  description: 'Work of a test.',
  leaseSeconds: 3,
  retry: { firstSeconds: 0.1, longestSeconds: 0.2, attempts: 3 },
  run,
  ...settings,
});
const keys = (count: number): string[] => Array.from({ length: count }, (_, index) => `key ${index}`);

/** Ends when the job is aborted, or not at all. */
const untilAborted = ({ signal }: JobRun): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve()));

let nodes: Nodes;
beforeAll(async () => {
  nodes = await Nodes.open();
  await nodes.sql('create table effect (job uuid, fence bigint)');
});
afterEach(async () => {
  await nodes.clear();
  await nodes.sql('truncate effect');
});
afterAll(() => nodes.close());

const states = async () => (await nodes.jobs()).map(({ state }) => state);
const allAre = (state: string) =>
  until(`jobs that are ${state}`, WAIT_MS, async () => (await states()).every((each) => each === state));
const write = (run: JobRun) =>
  run.inTransaction(async (tx) => void (await queryOf(tx)('insert into effect values ($1)', [run.jobId])));
const effects = async (): Promise<number> => (await nodes.sql<{ job: string }>('select job from effect')).length;

describe('a job', () => {
  test('is done once, with the ids that it was queued with', async () => {
    const seen: (string | null)[] = [];
    const kind = kindOf(async (_, run) => {
      seen.push(run.subjectId, `${run.attempt}`);
    });
    const subjectId = '11111111-1111-4111-8111-111111111111';
    await nodes.node([kind]);
    await nodes.queue(kind, ['one'], { subjectId });
    await allAre('done');
    expect(seen).toEqual([subjectId, '1']);
    const attempts = await nodes.sql('select outcome, ended_at is not null as ended from job_attempt');
    expect(attempts).toEqual([{ outcome: 'done', ended: true }]);
  });

  test('does not exist when its transaction fails, and starts without a poll when it commits', async () => {
    const kind = kindOf(async () => undefined);
    const node = await nodes.node([kind], { lookEveryMs: 600_000 });
    await expect(
      nodes.queue(kind, ['one'], { organizationId: '99999999-9999-4999-8999-999999999999' }),
    ).rejects.toThrow();
    expect(await states()).toEqual([]);
    await nodes.queue(kind, ['one'], {}, node.wake);
    await allAre('done');
  });

  test('is queued once for a key by a hundred callers at once, also after it is done', async () => {
    const kind = kindOf(async () => undefined);
    await nodes.node([kind]);
    const queued = await Promise.all(Array.from({ length: 100 }, () => nodes.queue(kind, ['one'])));
    expect(queued.flat()).toHaveLength(1);
    await allAre('done');
    expect(await nodes.queue(kind, ['one'])).toEqual([]);
  });

  test('is not begun before it is due', async () => {
    const kind = kindOf(async () => undefined);
    const node = await nodes.node([kind]);
    await nodes.queue(kind, ['one'], { dueAt: new Date(Date.now() + 3_600_000) }, node.wake);
    await delay(1_000);
    expect(await states()).toEqual(['waiting']);
    await nodes.sql(`update job set wake_at = now()`);
    await allAre('done');
  });

  test('of two hundred is done once by two nodes that look at once', async () => {
    const kind = kindOf(async (_, run) => write(run), { concurrency: 20 });
    await Promise.all([nodes.node([kind]), nodes.node([kind])]);
    await nodes.queue(kind, keys(200));
    await allAre('done');
    expect(await effects()).toBe(200);
  });
});

test('a look that failed is followed by others', async () => {
  let looks = 0;
  const isLeaving = (): boolean => {
    looks += 1;
    if (looks === 1) throw new Error('no');
    return false;
  };
  const kind = kindOf(async () => undefined);
  await nodes.node([kind], { isLeaving });
  await nodes.queue(kind, ['one']);
  await allAre('done');
});

describe('a job whose end cannot be stored', () => {
  test('is not done again: its end is stored once that succeeds', async () => {
    await nodes.sql('create sequence ends');
    await nodes.sql(`
      create function fail_first() returns trigger language plpgsql as $$
      begin
        if nextval('ends') = 1 then raise exception 'not now'; end if;
        return new;
      end $$`);
    await nodes.sql(`
      create trigger fail_first before update on job for each row
      when (old.state = 'running' and new.state <> 'running') execute function fail_first()`);
    try {
      const kind = kindOf(async (_, run) => write(run));
      await nodes.node([kind]);
      await nodes.queue(kind, ['one']);
      await allAre('done');
      expect(await effects()).toBe(1);
      expect(await nodes.jobs()).toMatchObject([{ attempts: 1 }]);
    } finally {
      await nodes.sql('drop function fail_first cascade');
      await nodes.sql('drop sequence ends');
    }
  });
});

describe('a job that fails', () => {
  const CANARY = 'a value that nobody may see';

  test('is tried again after pauses, then is failed for good, and keeps only a code', async () => {
    const times: number[] = [];
    const kind = kindOf(async () => {
      times.push(performance.now());
      throw new Error(CANARY);
    });
    await nodes.node([kind], { lookEveryMs: 20 });
    await nodes.queue(kind, ['one']);
    await allAre('failed');
    expect(times).toHaveLength(3);
    const [job] = await nodes.jobs();
    expect(job).toMatchObject({ attempts: 3, error_code: 'INTERNAL_ERROR', wake_at: null });
    const rows = await nodes.sql('select * from job_attempt');
    expect(rows).toHaveLength(3);
    expect(JSON.stringify([job, rows])).not.toContain(CANARY);
  });

  test('keeps the code of an error of ours', async () => {
    const kind = kindOf(async () => {
      throw new AppError('STORE_UNAVAILABLE');
    });
    await nodes.node([kind], { lookEveryMs: 20 });
    await nodes.queue(kind, ['one']);
    await allAre('failed');
    expect(await nodes.jobs()).toMatchObject([{ attempts: 3, error_code: 'STORE_UNAVAILABLE' }]);
  });

  test('for good is not tried again', async () => {
    const kind = kindOf(async () => {
      throw new PermanentFailure('TARGET_GONE');
    });
    await nodes.node([kind]);
    await nodes.queue(kind, ['one']);
    await allAre('failed');
    expect(await nodes.jobs()).toMatchObject([{ attempts: 1, error_code: 'TARGET_GONE' }]);
  });

  test('is given up when its time is over, whatever its attempts', async () => {
    const kind = kindOf(
      async () => {
        throw new Error('no');
      },
      { retry: { firstSeconds: 60, longestSeconds: 60, attempts: 100, giveUpSeconds: 20 } },
    );
    await nodes.node([kind]);
    await nodes.queue(kind, ['one']);
    await allAre('failed');
    expect(await nodes.jobs()).toMatchObject([{ attempts: 1 }]);
  });

  test('in one kind does not keep other kinds from their work', async () => {
    const stuck = kindOf(untilAbortedKind, { name: 'test:stuck', concurrency: 1, leaseSeconds: 60 });
    const kind = kindOf(async () => undefined);
    await nodes.node([stuck, kind]);
    await nodes.queue(stuck, keys(50));
    await nodes.queue(kind, keys(50));
    await until('the other kind', WAIT_MS, async () => {
      const done = await nodes.sql(`select id from job where kind = 'test:work' and state = 'done'`);
      return done.length === 50;
    });
  });
});

const untilAbortedKind: JobKind['run'] = (_, run) => untilAborted(run);

describe('a lease', () => {
  test('is renewed while the job runs, so that nobody else takes it', async () => {
    const started: string[] = [];
    const kind = kindOf(async (_, run) => {
      started.push(run.jobId);
      await delay(7_000);
    });
    await Promise.all([nodes.node([kind]), nodes.node([kind])]);
    await nodes.queue(kind, ['one']);
    await allAre('done');
    expect(started).toHaveLength(1);
  });

  test('that ended is taken over, and whoever lost it writes nothing and calls nobody', async () => {
    const late: unknown[] = [];
    let first: JobRun | undefined;
    const kind = kindOf(async (_, run) => {
      if (first !== undefined) return write(run);
      first = run;
      await untilAborted(run);
      late.push(
        await write(run).catch((error: unknown) => error),
        await run.reserve(1).catch((error: unknown) => error),
      );
    });
    await nodes.node([kind]);
    await nodes.queue(kind, ['one']);
    await until('the first attempt', WAIT_MS, () => first !== undefined);
    // As if the node had stood still: its lease has ended, and somebody else has the job.
    await nodes.sql(`update job set wake_at = now() - interval '1 second'`);
    await allAre('done');
    await until('the first attempt to notice', WAIT_MS, () => late.length === 2);
    expect(late).toEqual([expect.any(LeaseLost), expect.any(LeaseLost)]);
    expect(await effects()).toBe(1);
    const attempts = await nodes.sql('select outcome from job_attempt order by fence');
    expect(attempts).toEqual([{ outcome: 'lost' }, { outcome: 'done' }]);
  });

  test('that ended unnoticed lets nothing be committed', async () => {
    const kind = kindOf(async (_, run) => {
      if (run.attempt > 1) return;
      await nodes.sql(`update job set wake_at = now() - interval '1 second'`);
      await write(run);
    });
    await nodes.node([kind]);
    await nodes.queue(kind, ['one']);
    await allAre('done');
    expect(await effects()).toBe(0);
    expect((await nodes.jobs())[0]).toMatchObject({ attempts: 2 });
  });

  test('is not renewed beyond the time of one attempt', async () => {
    const kind = kindOf(
      async (_, run) => {
        if (run.attempt === 1) await untilAborted(run);
      },
      { limitSeconds: 1.5 },
    );
    await nodes.node([kind]);
    await nodes.queue(kind, ['one']);
    await allAre('done');
    const attempts = await nodes.sql('select error_code from job_attempt order by fence');
    expect(attempts).toEqual([{ error_code: 'JOB_TOOK_TOO_LONG' }, { error_code: null }]);
  });

  test('of a job whose handler never comes back is free for others, and its place too', async () => {
    let isFirst = true;
    const kind = kindOf(
      async () => {
        if (!isFirst) return;
        isFirst = false;
        await new Promise(() => undefined);
      },
      { limitSeconds: 0.5, concurrency: 1 },
    );
    await nodes.node([kind]);
    await nodes.queue(kind, ['one']);
    await allAre('done');
  });

  test('that outlasts a call is reserved before it', async () => {
    let reserved = 0;
    const kind = kindOf(async (_, run) => {
      const [before] = await nodes.sql<{ at: string }>('select clock_timestamp()::text as at');
      await run.reserve(20);
      const [row] = await nodes.sql<{ seconds: number }>(
        'select extract(epoch from wake_at - $1::timestamptz)::double precision as seconds from job',
        [before?.at],
      );
      reserved = row?.seconds ?? 0;
    });
    await nodes.node([kind]);
    await nodes.queue(kind, ['one']);
    await allAre('done');
    expect(reserved).toBeGreaterThan(24);
  });

  test('of a node that leaves is given back, and the attempt does not count', async () => {
    const kind = kindOf(untilAbortedKind, { leaseSeconds: 600 });
    const leaving = await nodes.node([kind]);
    await nodes.queue(kind, ['one']);
    await until('the job to run', WAIT_MS, async () => (await states())[0] === 'running');
    await leaving.stop(50);
    expect(await nodes.jobs()).toMatchObject([{ state: 'waiting', attempts: 0 }]);
    expect(await nodes.sql('select outcome from job_attempt')).toEqual([{ outcome: 'released' }]);
    await nodes.node([kindOf(async () => undefined)]);
    await allAre('done');
  });

  test('ends when the job is cancelled', async () => {
    const kind = kindOf(untilAbortedKind);
    await nodes.node([kind]);
    await nodes.queue(kind, ['one']);
    await until('the job to run', WAIT_MS, async () => (await states())[0] === 'running');
    await nodes.sql('update job set is_cancel_requested = true');
    await allAre('cancelled');
    expect(await nodes.jobs()).toMatchObject([{ attempts: 1, wake_at: null }]);
  });
});

describe('a recurring job', () => {
  const DUE = `update job set wake_at = now() - interval '3 days' where every_seconds is not null and finished_at is not null`;
  const next = async () => {
    const [row] = await nodes.sql<{ next: number; isAligned: boolean }>(
      `select extract(epoch from wake_at - now())::integer as next, extract(epoch from wake_at)::bigint % ${DAY_SECONDS} = 0 as "isAligned" from job`,
    );
    return row;
  };

  test('is one for all nodes, runs once for all times that were missed, and is due again at its next time', async () => {
    let runs = 0;
    const kind = kindOf(
      async () => {
        runs += 1;
      },
      { everySeconds: DAY_SECONDS },
    );
    await Promise.all([nodes.node([kind]), nodes.node([kind]), nodes.node([kind])]);
    expect(await nodes.jobs()).toMatchObject([{ state: 'done', fence: '0' }]);
    await nodes.sql(DUE);
    await until('the run', WAIT_MS, async () => runs === 1 && (await states())[0] === 'done');
    await delay(600);
    expect(runs).toBe(1);
    expect(await next()).toEqual({ next: expect.any(Number), isAligned: true });
    expect((await next())?.next).toBeLessThanOrEqual(DAY_SECONDS);
    await nodes.sql(DUE);
    await until('the second run', WAIT_MS, () => runs === 2);
    await allAre('done');
    expect(await nodes.jobs()).toMatchObject([{ attempts: 1, fence: '2' }]);
  });

  test('is one, however many nodes ask for it at the same moment', async () => {
    const { query } = nodes.database;
    for (const name of Array.from({ length: 60 }, (_, round) => `at-once-${round}`)) {
      await registerKinds(query, { names: [name], every: [DAY_SECONDS] });
      const asks = Array.from({ length: 8 }, () => scheduleKinds(query, { names: [name], every: [DAY_SECONDS] }));
      await Promise.all(asks);
    }
    const [row] = await nodes.sql<{ count: number }>(
      `select count(*)::int from job where kind like 'at-once-%' and every_seconds is not null`,
    );
    expect(row).toEqual({ count: 60 });
  });

  test('knows one time for all attempts of a run, and another for the next run', async () => {
    const times: string[] = [];
    const kind = kindOf(
      async (_, run) => {
        times.push(run.queuedAt.toISOString());
        if (times.length === 1) throw new Error('no');
      },
      { everySeconds: DAY_SECONDS },
    );
    await nodes.node([kind]);
    await nodes.sql(DUE);
    await until('both attempts', WAIT_MS, async () => times.length === 2 && (await states())[0] === 'done');
    await nodes.sql(DUE);
    await until('the next run', WAIT_MS, () => times.length === 3);
    expect(times[1]).toBe(times[0]);
    expect(times[2]).not.toBe(times[0]);
    await allAre('done');
  });

  test('knows another time once its next time has come, whatever became of its last attempt', async () => {
    const times: Date[] = [];
    const kind = kindOf(
      async (_, run) => {
        times.push(run.queuedAt);
        if (times.length === 1) throw new Error('no');
      },
      { everySeconds: DAY_SECONDS, retry: { firstSeconds: 3_600, longestSeconds: 3_600, attempts: 3 } },
    );
    await nodes.node([kind]);
    await nodes.sql(DUE);
    await until('the failure', WAIT_MS, async () => (await states())[0] === 'waiting');
    // As if nobody had run it for two days since.
    await nodes.sql(`update job set created_at = now() - interval '2 days', wake_at = now()`);
    await allAre('done');
    expect(times.map((time) => time.getTime() > Date.now() - DAY_SECONDS * 1_000)).toEqual([true, true]);
    expect(await nodes.jobs()).toMatchObject([{ attempts: 2 }]);
  });

  test('that failed for good says so until its next time, and begins anew then', async () => {
    let fails = true;
    const kind = kindOf(
      async () => {
        if (fails) throw new PermanentFailure('TEST_FAILURE');
      },
      { everySeconds: DAY_SECONDS },
    );
    await nodes.node([kind]);
    await nodes.sql(DUE);
    await allAre('failed');
    expect(await nodes.jobs()).toMatchObject([{ attempts: 1, error_code: 'TEST_FAILURE', wake_at: expect.any(Date) }]);
    expect((await next())?.isAligned).toBe(true);
    fails = false;
    await nodes.sql(DUE);
    await allAre('done');
    expect(await nodes.jobs()).toMatchObject([{ attempts: 1, error_code: null }]);
  });

  test('that is to pause after a failure comes at its next time at the latest', async () => {
    const kind = kindOf(
      async () => {
        throw new Error('no');
      },
      { everySeconds: 60, retry: { firstSeconds: 3_600, longestSeconds: 3_600, attempts: 5 } },
    );
    await nodes.node([kind]);
    await nodes.sql(DUE);
    await until('the failure', WAIT_MS, async () => (await nodes.jobs())[0]?.state === 'waiting');
    expect((await next())?.next).toBeLessThanOrEqual(60);
  });

  test('starts over when its interval changes, and ends with its schedule', async () => {
    const kind = (settings: Partial<JobKind>) => kindOf(async () => undefined, settings);
    await nodes.node([kind({ everySeconds: DAY_SECONDS })]);
    await nodes.node([kind({ everySeconds: 60 })]);
    expect((await next())?.next).toBeLessThanOrEqual(60);
    await nodes.node([kind({})]);
    expect(await states()).toEqual([]);
  });

  test('and all work of a kind wait while it is paused', async () => {
    const kind = kindOf(async () => undefined, { everySeconds: DAY_SECONDS });
    await nodes.node([kind]);
    await nodes.sql('update job_kind set is_paused = true');
    await nodes.sql(DUE);
    await nodes.queue(kind, ['one']);
    await delay(1_000);
    expect(await nodes.jobs()).toMatchObject([
      { state: 'waiting', fence: '0' },
      { state: 'done', fence: '0' },
    ]);
    await nodes.sql('update job_kind set is_paused = false');
    await until('both jobs', WAIT_MS, async () =>
      (await nodes.jobs()).every(({ state, fence }) => state === 'done' && fence === '1'),
    );
  });
});

describe('a kind whose jobs may not all be of one organization', () => {
  test('leaves room for others, however many of one organization hang', async () => {
    const [busy, other] = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'];
    await nodes.sql(
      `insert into organization (id, name, slug) values ('${busy}', 'busy', 'busy'), ('${other}', 'other', 'other')`,
    );
    const kind = kindOf(async (_, run) => (run.subjectId === null ? untilAborted(run) : undefined), {
      concurrency: 4,
      concurrencyPerOrganization: 2,
      leaseSeconds: 30,
    });
    const node = await nodes.node([kind]);
    await nodes.queue(kind, keys(10), { organizationId: busy }, node.wake);
    const running = () => nodes.sql<{ state: string }>(`select state from job where state = 'running'`);
    await until('two that hang', WAIT_MS, async () => (await running()).length === 2);
    await nodes.queue(kind, ['installation'], { subjectId: busy });
    await nodes.queue(kind, ['one', 'two', 'three'], { organizationId: other, subjectId: other }, node.wake);
    await until('the jobs of others', WAIT_MS, async () => {
      const done = await nodes.sql(`select from job where state = 'done'`);
      return done.length === 4;
    });
    expect(await running()).toHaveLength(2);
    // The node hears of an end a moment after everybody can see it.
    await until('the places of the others', WAIT_MS, () => node.figures.running === 2);
  });
});
