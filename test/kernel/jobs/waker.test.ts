import { SealedText } from '../../../src/kernel/crypto/sealed-text.js';
import type { JobKind } from '../../../src/kernel/jobs/job-kind.js';
import { wakeStore } from '../../../src/kernel/jobs/wake-stores.js';
import { freshDatabase } from '../../kit/databases.js';
import { freePort } from '../../kit/free-port.js';
import { describeWithMongo } from '../../kit/mongo/mongo.js';
import { Relay } from '../../kit/relay.js';
import { testInAll } from '../../kit/scope.js';
import { withClient } from '../../kit/tables.js';
import { until } from '../../kit/until.js';
import { Nodes } from './runners.js';

const WAIT_MS = 50_000;
/** So that nothing but the waker can be what starts a job. */
const NO_POLL = { pollMs: 3_600_000 };
const KIND: JobKind = { name: 'test:work', description: 'Work of a test.', run: async () => undefined };

let nodes: Nodes;
beforeAll(async () => {
  nodes = await Nodes.open();
});
afterEach(() => nodes.clear());
afterAll(() => nodes.close());

const done = (count: number) =>
  until(`${count} jobs that are done`, WAIT_MS, async () => {
    const jobs = await nodes.jobs();
    return jobs.length === count && jobs.every(({ state }) => state === 'done');
  });
const soon = () => new Date(Date.now() + 2_000);

describe.each<[string, () => Promise<string | null>]>([
  ['the database of the service', async () => null],
  ['another Postgres, without a table', () => freshDatabase()],
])('wake-ups in %s', (_, urlOf) => {
  const store = async () => {
    const url = await urlOf();
    return { url: url ?? nodes.url, store: wakeStore(url === null ? null : new SealedText(url), { url: nodes.url }) };
  };

  test('start a job when it is due, though nobody polls', async () => {
    const node = await nodes.wokenNode([KIND], (await store()).store, NO_POLL);
    await until('the store', WAIT_MS, () => node.store.connected);
    const dueAt = soon();
    await nodes.queue(KIND, ['one'], { dueAt }, node.wake);
    await done(1);
    const [attempt] = await nodes.sql<{ early: boolean }>('select started_at < $1 as early from job_attempt', [dueAt]);
    expect(attempt).toEqual({ early: false });
  });

  test('go on after all connections of the store broke', async () => {
    const { url, store: opened } = await store();
    const node = await nodes.wokenNode([KIND], opened, NO_POLL);
    await until('the store', WAIT_MS, () => node.store.connected);
    await withClient(url, (client) =>
      client.query(`select pg_terminate_backend(pid) from pg_stat_activity
        where application_name = 'strongroom jobs' and datname = current_database()`),
    );
    await nodes.queue(KIND, ['one'], { dueAt: soon() }, node.wake);
    await done(1);
    expect(node.store.connected).toBe(true);
  });

  test('go on after Agenda lost its table, once that is there again', async () => {
    const { url, store: opened } = await store();
    const node = await nodes.wokenNode([KIND], opened, { pollMs: 200 });
    await until('the store', WAIT_MS, () => node.store.connected);
    await withClient(url, (client) => client.query('alter table agenda_jobs rename to away'));
    await nodes.queue(KIND, ['one'], { dueAt: soon() }, node.wake);
    await done(1);
    await withClient(url, async (client) => {
      await client.query('drop table if exists agenda_jobs');
      await client.query('alter table away rename to agenda_jobs');
    });
    await until('the store again', WAIT_MS, () => node.store.connected);
  });
});

describeWithMongo('wake-ups in MongoDB', (mongo) => {
  const store = () => wakeStore(new SealedText(mongo().url), { url: nodes.url });

  test('start a job when it is due, though nobody polls', async () => {
    const node = await nodes.wokenNode([KIND], store(), NO_POLL);
    await until('the store', WAIT_MS, () => node.store.connected);
    await nodes.queue(KIND, ['one'], { dueAt: soon() }, node.wake);
    await done(1);
  });

  testInAll('are stored again after the store has lost them', async () => {
    const node = await nodes.wokenNode([KIND], store(), NO_POLL);
    await until('the store', WAIT_MS, () => node.store.connected);
    await nodes.queue(KIND, ['one'], { dueAt: new Date(Date.now() + 6_000) }, node.wake);
    await mongo().goAway();
    // One that comes back before anybody asks for it is no other store.
    await until('the loss', WAIT_MS, () => !node.store.connected);
    await mongo().comeBack();
    await done(1);
    expect(node.store).toEqual({ backend: 'mongodb', connected: true });
  });

  testInAll('are not missed while the store is away: the poll starts jobs', async () => {
    const node = await nodes.wokenNode([KIND], store(), { pollMs: 200 });
    await until('the store', WAIT_MS, () => node.store.connected);
    await mongo().goAway();
    await nodes.queue(KIND, ['one'], { dueAt: soon() });
    await done(1);
    await until('the loss', WAIT_MS, () => !node.store.connected);
    await mongo().comeBack();
    await until('the store again', WAIT_MS, () => node.store.connected);
  });

  testInAll('reach one of two nodes, and each job is done once', async () => {
    const two = await Promise.all([
      nodes.wokenNode([KIND], store(), NO_POLL),
      nodes.wokenNode([KIND], store(), NO_POLL),
    ]);
    await until('both stores', WAIT_MS, () => two.every((node) => node.store.connected));
    const dueAt = soon();
    await nodes.queue(
      KIND,
      Array.from({ length: 50 }, (_, index) => `key ${index}`),
      { dueAt },
      two[0].wake,
    );
    await done(50);
    expect(await nodes.sql('select fence from job_attempt group by fence')).toEqual([{ fence: '1' }]);
  });
});

testInAll('eight nodes that make the table of another Postgres at once all reach it', async () => {
  const url = new SealedText(await freshDatabase());
  const eight = await Promise.all(
    Array.from({ length: 8 }, () => nodes.wokenNode([KIND], wakeStore(url, { url: nodes.url }), NO_POLL)),
  );
  await until('all stores', WAIT_MS, () => eight.every(({ store }) => store.connected));
});

test('a store that is away delays no job beyond the poll, and is reached when it comes', async () => {
  const url = await freshDatabase();
  const away = new SealedText(`${url}_later`);
  const node = await nodes.wokenNode([KIND], wakeStore(away, { url: nodes.url }), { pollMs: 200 });
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
  const node = await nodes.wokenNode([KIND], wakeStore(new SealedText(relay.url), { url: nodes.url }), NO_POLL);
  await until('the break', WAIT_MS, () => broken !== undefined);
  await broken;
  const back = await Relay.start(url, Number(new URL(relay.url).port));
  try {
    await until('the store', WAIT_MS, () => node.store.connected);
  } finally {
    await back.stop();
  }
});
