import { isDeepStrictEqual } from 'node:util';
import { SealedText } from '../../../src/kernel/crypto/sealed-text.js';
import type { JobKind } from '../../../src/kernel/jobs/job-kind.js';
import { type JobsParts, jobsOfJobs } from '../../../src/kernel/jobs/jobs.js';
import { storeAt } from '../../../src/kernel/jobs/stores.js';
import { createLog } from '../../../src/kernel/log.js';
import { freshDatabase } from '../../kit/databases.js';
import { freePort } from '../../kit/free-port.js';
import { describeWithMongo } from '../../kit/mongo/mongo.js';
import { Relay } from '../../kit/relay.js';
import { testInAll } from '../../kit/scope.js';
import { withClient } from '../../kit/tables.js';
import { until } from '../../kit/until.js';
import { Nodes } from './runners.js';

const WAIT_MS = 50_000;
/** So that nothing but the store can be what starts a job. */
const NO_LOOK = { lookEveryMs: 3_600_000 };
const CANARY = 'a value that nobody may see';
const RightDate = Date;
/** The clock of a node that is wrong. */
class HourAhead extends RightDate {
  constructor(...parts: [] | [number]) {
    super(...((parts.length === 0 ? [HourAhead.now()] : parts) as [number]));
  }

  static override now(): number {
    return RightDate.now() + 3_600_000;
  }
}
const KIND: JobKind = { name: 'test:work', description: 'Work of a test.', run: async () => undefined };
const FAILING: JobKind = {
  name: 'test:failing',
  description: 'Work that fails.',
  retry: { firstSeconds: 1, longestSeconds: 1, attempts: 2 },
  run: async () => {
    throw new Error(CANARY);
  },
};

let nodes: Nodes;
beforeAll(async () => {
  nodes = await Nodes.open();
});
afterEach(() => nodes.clear());
afterAll(() => nodes.close());

const keys = (count: number): string[] => Array.from({ length: count }, (_, index) => `key ${index}`);
const done = (count: number) =>
  until(`${count} jobs that are done`, WAIT_MS, async () => {
    const jobs = await nodes.jobs();
    return jobs.filter(({ state }) => state === 'done').length === count;
  });
const soon = () => new Date(Date.now() + 2_000);
const isEach = async (fence: string) =>
  expect(await nodes.sql('select fence from job_attempt group by fence')).toEqual([{ fence }]);

/** A further node on a store, once it is reached. */
async function connected(url: string, parts: Partial<JobsParts> = NO_LOOK, kinds: readonly JobKind[] = [KIND]) {
  const node = await nodes.node(kinds, { storeAt: storeAt(new SealedText(url)), ...parts });
  await until('the store', WAIT_MS, () => node.store.connected);
  return node;
}

/** What holds of any store. */
function holdsOfAny(url: () => string, test: (name: string, run: () => Promise<void>) => void): void {
  test('do not wait for those of a target that hangs when they are urgent', async () => {
    const held = Promise.withResolvers<void>();
    const kind: JobKind = {
      ...KIND,
      ...{ concurrency: 2, concurrencyPerTarget: 1, hasUrgentSlots: true },
      run: async (_, { isUrgent }) => (isUrgent ? undefined : held.promise),
    };
    const node = await connected(url(), NO_LOOK, [kind]);
    await nodes.queue(kind, keys(200), { target: 'hangs' }, node.wake);
    await nodes.queue(kind, ['urgent'], { target: 'other', isUrgent: true }, node.wake);
    await done(1);
    held.resolve();
  });

  test('run once although the table of jobs was locked when they were due', async () => {
    const node = await connected(url(), {});
    await nodes.queue(KIND, keys(20), { dueAt: soon() }, node.wake);
    await withClient(nodes.url, async (client) => {
      await client.query('begin; lock table job');
      await until('a node that waits for the table', WAIT_MS, async () => {
        const { rows } = await client.query(`select from pg_locks where relation = 'job'::regclass and not granted`);
        return rows.length > 0;
      });
      await client.query('rollback');
    });
    await done(20);
    await isEach('1');
  });

  test('of a node that died are taken over once', async () => {
    const node = await connected(url(), {});
    await nodes.queue(KIND, keys(20), { dueAt: soon() }, node.wake);
    await nodes.sql(`update job set state = 'running', node = gen_random_uuid(), attempts = 1, fence = 1`);
    await done(20);
    await isEach('2');
    expect((await nodes.jobs()).filter(({ attempts }) => attempts !== 2)).toEqual([]);
  });
}

describe('jobs in another Postgres, without a table', () => {
  let url: string;
  const sql = (text: string, params: readonly unknown[] = []) =>
    withClient(url, async (client) => (await client.query(text, [...params])).rows);
  beforeEach(async () => {
    url = await freshDatabase();
  });

  holdsOfAny(() => url, test);

  test('start at once after the commit, or when they are due, and not before', async () => {
    const node = await connected(url);
    const dueAt = soon();
    await nodes.queue(KIND, ['later'], { dueAt }, node.wake);
    await nodes.queue(KIND, ['now'], {}, node.wake);
    await done(2);
    const [attempt] = await nodes.sql<{ early: boolean }>(
      `select min(a.started_at) < $1 as early from job_attempt a join job j on j.id = a.job_id where dedupe_key = 'later'`,
      [dueAt],
    );
    expect(attempt).toEqual({ early: false });
  });

  test('are there by the id of their row alone, with the code of their last failure, and leave when they are done', async () => {
    const node = await connected(url, NO_LOOK, [FAILING, KIND]);
    const [id] = await nodes.queue(FAILING, ['one'], {}, node.wake);
    await nodes.queue(KIND, ['two'], {}, node.wake);
    await done(1);
    // Not by the number of failures that Agenda counts: it begins anew when Agenda runs the job a moment too early, and nothing is done.
    const stored = await until('the last attempt', WAIT_MS, async () => {
      const rows = await sql('select * from agenda_jobs');
      return rows.length === 1 && rows[0]?.next_run_at === null && rows[0].locked_at === null && rows;
    });
    expect(stored).toMatchObject([
      { name: FAILING.name, data: { id }, fail_reason: 'permanent failure: INTERNAL_ERROR' },
    ]);
    expect(await nodes.sql('select count(*)::integer as attempts from job_attempt where job_id = $1', [id])).toEqual([
      { attempts: 2 },
    ]);
    expect(JSON.stringify(stored)).not.toContain(CANARY);
    await sql(`update agenda_jobs set failed_at = now() - interval '32 days'`);
    node.wake();
    await until('the store without it', WAIT_MS, async () => (await sql('select from agenda_jobs')).length === 0);
  });

  test('are there by the clock of the database, whatever that of their node says', async () => {
    const held = Promise.withResolvers<void>();
    globalThis.Date = HourAhead as unknown as DateConstructor;
    try {
      const node = await connected(url, NO_LOOK, [{ ...KIND, run: () => held.promise }]);
      await nodes.queue(KIND, ['now'], {}, node.wake);
      const [locked] = await until('the lock of the job', WAIT_MS, async () => {
        const rows = await sql('select abs(extract(epoch from locked_at - now())) < 600 as right from agenda_jobs');
        return typeof rows[0]?.right === 'boolean' && rows;
      });
      expect(locked).toEqual({ right: true });
      const dueAt = new RightDate(RightDate.now() + 1_000_000);
      const [id] = await nodes.queue(KIND, ['later'], { dueAt }, node.wake);
      const [stored] = await until('the other job in the store', WAIT_MS, async () => {
        const rows = await sql(`select next_run_at from agenda_jobs where data ->> 'id' = $1`, [id]);
        return rows.length === 1 && rows;
      });
      expect(Math.abs(stored?.next_run_at.getTime() - dueAt.getTime())).toBeLessThan(600_000);
    } finally {
      globalThis.Date = RightDate;
      held.resolve();
    }
    await done(1);
  });

  testInAll('that are asked for early, and come due while that is found out, are not left', async () => {
    const dueAt = new Date(Date.now() + 8_000);
    let isSlow = false;
    const query = async (...asked: Parameters<typeof nodes.database.query>) => {
      if (isSlow) await until('the time', WAIT_MS, () => Date.now() > dueAt.getTime());
      return nodes.database.query(...asked);
    };
    const database = new Proxy(nodes.database, {
      get: (target, name) => (name === 'query' ? query : Reflect.get(target, name, target)),
    });
    await connected(url, { ...NO_LOOK, database });
    const [id] = await nodes.queue(KIND, ['one'], { dueAt });
    isSlow = true;
    await sql(`insert into agenda_jobs (name, type, next_run_at, data) values ($1, 'normal', now(), $2)`, [
      KIND.name,
      { id },
    ]);
    await done(1);
  });

  test('that recur are there once for two nodes, and run once', async () => {
    let runs = 0;
    const kind = {
      ...KIND,
      everySeconds: 86_400,
      run: async () => {
        runs += 1;
      },
    };
    const node = await connected(url, NO_LOOK, [kind]);
    await connected(url, NO_LOOK, [kind]);
    expect(await sql('select name, type from agenda_jobs')).toEqual([{ name: KIND.name, type: 'single' }]);
    await nodes.sql('update job set wake_at = now()');
    node.wake();
    await until('the run', WAIT_MS, async () => runs === 1 && (await nodes.jobs())[0]?.state === 'done');
    const next = await until('its next time', WAIT_MS, async () => {
      const [row] = await sql(
        'select next_run_at from agenda_jobs where locked_at is null and last_run_at is not null',
      );
      return row?.next_run_at as Date | undefined;
    });
    expect(Math.abs(next.getTime() - ((await nodes.jobs())[0]?.wake_at?.getTime() ?? 0))).toBeLessThan(2_000);
  });

  test('of 270 are done once by two nodes', async () => {
    const two = [await connected(url, {}), await connected(url, {})] as const;
    await nodes.queue(KIND, keys(270), {}, two[0].wake);
    await done(270);
    await isEach('1');
  });

  test('run although the store has lost them, by the nodes themselves', async () => {
    const node = await connected(url, {});
    await nodes.queue(KIND, keys(20), { dueAt: soon() }, node.wake);
    await until('the jobs in the store', WAIT_MS, async () => (await sql('select from agenda_jobs')).length === 20);
    await sql('delete from agenda_jobs');
    await done(20);
    await isEach('1');
    await until('the store again', WAIT_MS, () => node.store.connected);
  });

  test('are put back by the sweep', async () => {
    const node = await connected(url);
    await nodes.queue(KIND, keys(20), { dueAt: new Date(Date.now() + 60_000) }, node.wake);
    await until('the jobs in the store', WAIT_MS, async () => (await sql('select from agenda_jobs')).length === 20);
    await sql('delete from agenda_jobs');
    node.wake();
    await until('the jobs again', WAIT_MS, async () => (await sql('select from agenda_jobs')).length === 20);
  });

  test('without a place when they are due run as soon as there is one', async () => {
    const kind: JobKind = { ...KIND, concurrencyPerTarget: 1 };
    const node = await connected(url, NO_LOOK, [kind]);
    await nodes.queue(kind, keys(10), { target: 'one' }, node.wake);
    await done(10);
    await isEach('1');
  });

  test('of a paused kind, and those without a place, leave the store, and run as soon as they can', async () => {
    const held = Promise.withResolvers<void>();
    const few: JobKind = { ...KIND, name: 'test:few', concurrencyPerTarget: 1, run: () => held.promise };
    const paused: JobKind = { ...KIND, everySeconds: 86_400 };
    const node = await connected(url, {}, [few, paused]);
    const stored = async () => (await sql('select name from agenda_jobs')).map(({ name }) => name);
    await nodes.sql('update job_kind set is_paused = true where name = $1', [KIND.name]);
    await nodes.sql(`update job set wake_at = now() where every_seconds is not null`);
    await nodes.queue(few, keys(10), { target: 'one' }, node.wake);
    node.wake();
    await until('one job in the store', WAIT_MS, async () => isDeepStrictEqual(await stored(), [few.name]));
    await nodes.sql('update job_kind set is_paused = false');
    held.resolve();
    node.wake();
    await done(11);
  });

  test('are left by a node that leaves to the others, in the store', async () => {
    let isLeaving = false;
    const leaving = await connected(url, { isLeaving: () => isLeaving });
    await connected(url);
    isLeaving = true;
    await nodes.queue(KIND, keys(20), { dueAt: soon() }, leaving.wake);
    await done(20);
    await isEach('1');
  });

  test('that leave the store while they are put there again do not cost the connection', async () => {
    const warned: string[] = [];
    const log = createLog('silent');
    const node = await connected(url, { ...NO_LOOK, log: { ...log, warn: (message) => warned.push(message) } });
    const [id = ''] = await nodes.queue(KIND, ['one'], { dueAt: new Date(Date.now() + 60_000) }, node.wake);
    const stored = async () => (await sql('select next_run_at as at from agenda_jobs'))[0]?.at as Date | undefined;
    const before = await until('the job in the store', WAIT_MS, stored);
    // Agenda looks whether the job is there before it changes it; meanwhile it may be done, and removed.
    await sql('create sequence puts');
    await sql(`create function leave() returns trigger language plpgsql as $$
      begin
        return case when nextval('puts') = 1 then null else new end;
      end $$`);
    await sql('create trigger leave before update on agenda_jobs for each row execute function leave()');
    await nodes.sql(`update job set wake_at = now() + interval '120 seconds'`);
    node.wake([id]);
    await until('its other time', WAIT_MS, async () => (await stored())?.getTime() !== before.getTime());
    expect(warned).toEqual([]);
  });

  test('that others put there are left alone, and delay none', async () => {
    const node = await connected(url);
    const dueAt = soon();
    const values = JSON.stringify(['no id', null, {}].map((id) => ({ id })));
    await sql(
      `insert into agenda_jobs (name, type, next_run_at, data) select $1, 'normal', $2::timestamptz, given.value
       from jsonb_array_elements($3::jsonb || 'null') given`,
      [KIND.name, dueAt, values],
    );
    await nodes.queue(KIND, ['one'], { dueAt }, node.wake);
    await done(1);
    await until('none in the store', WAIT_MS, async () => (await sql('select from agenda_jobs')).length === 0);
  });

  test('go on after all connections of the store broke', async () => {
    const node = await connected(url, {});
    await sql(`select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'strongroom jobs' and datname = current_database()`);
    await nodes.queue(KIND, ['one'], { dueAt: soon() }, node.wake);
    await done(1);
    await until('the store', WAIT_MS, () => node.store.connected);
  });

  test('go on without the store while its table is away, and with it once it is back', async () => {
    const node = await connected(url, {});
    await sql('alter table agenda_jobs rename to away');
    await nodes.queue(KIND, ['one'], { dueAt: soon() }, node.wake);
    await done(1);
    await sql('drop table if exists agenda_jobs');
    await sql('alter table away rename to agenda_jobs');
    await until('the store again', WAIT_MS, () => node.store.connected);
  });

  test('wait for no table that somebody has locked', async () => {
    const node = await connected(url, {});
    await withClient(url, async (client) => {
      await client.query('begin; lock table agenda_jobs');
      await nodes.queue(KIND, keys(20), {}, node.wake);
      await done(20);
      await client.query('rollback');
    });
    await isEach('1');
    await until('the store again', WAIT_MS, () => node.store.connected);
  });
});

describeWithMongo('jobs in MongoDB', (mongo) => {
  holdsOfAny(() => mongo().url, testInAll);

  test('start at once after the commit, and when they are due', async () => {
    const node = await connected(mongo().url);
    await nodes.queue(KIND, ['one'], { dueAt: soon() }, node.wake);
    await nodes.queue(KIND, ['now'], {}, node.wake);
    await done(2);
  });

  testInAll('run although the store has lost them, and the store is used again', async () => {
    const node = await connected(mongo().url, {});
    await nodes.queue(KIND, ['one'], { dueAt: new Date(Date.now() + 6_000) }, node.wake);
    await mongo().goAway();
    // One that comes back before anybody asks for it is no other store.
    await until('the loss', WAIT_MS, () => !node.store.connected);
    await nodes.queue(KIND, ['two'], {}, node.wake);
    await done(1);
    await mongo().comeBack();
    await done(2);
    await until('the store again', WAIT_MS, () => node.store.connected);
    expect(node.store).toEqual({ backend: 'mongodb', connected: true });
  });

  testInAll('of a hundred are done once by two nodes', async () => {
    const two = [await connected(mongo().url, {}), await connected(mongo().url, {})] as const;
    await nodes.queue(KIND, keys(100), {}, two[0].wake);
    await done(100);
    await isEach('1');
  });
});

testInAll('eight nodes that make the table of another Postgres at once all reach it', async () => {
  const url = await freshDatabase();
  await Promise.all(Array.from({ length: 8 }, () => connected(url)));
});

test('without a store no job is left that only fills it', async () => {
  const recurring = () => nodes.sql('select kind from job where every_seconds is not null order by kind');
  await nodes.node(jobsOfJobs(true));
  expect(await recurring()).toEqual([{ kind: 'jobs:delete-finished' }, { kind: 'jobs:refill-store' }]);
  await nodes.node(jobsOfJobs(false));
  expect(await recurring()).toEqual([{ kind: 'jobs:delete-finished' }]);
});

test('a store that is away delays no job, and is reached when it comes', async () => {
  const url = await freshDatabase();
  const node = await nodes.node([KIND], { storeAt: storeAt(new SealedText(`${url}_later`)) });
  await nodes.queue(KIND, ['one'], { dueAt: soon() });
  await done(1);
  expect(node.store).toEqual({ backend: 'postgres', connected: false });
  await withClient(url, (client) => client.query(`create database "${new URL(url).pathname.slice(1)}_later"`));
  await until('the store', WAIT_MS, () => node.store.connected);
});

test('a store whose connection breaks while somebody holds it is reached again', async () => {
  const url = await freshDatabase();
  let broken: Promise<void> | undefined;
  const relay = await Relay.start(url, await freePort(), () => (sent) => {
    if (sent.includes('SELECT 1')) broken ??= relay.stop();
  });
  const node = await nodes.node([KIND], { storeAt: storeAt(new SealedText(relay.url)), ...NO_LOOK });
  await until('the break', WAIT_MS, () => broken !== undefined);
  await broken;
  const back = await Relay.start(url, Number(new URL(relay.url).port));
  try {
    await until('the store', WAIT_MS, () => node.store.connected);
  } finally {
    await back.stop();
  }
});
