import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { Caller } from '../../kit/caller.js';
import { embeddedPostgres, embeddedUrl } from '../../kit/processes.js';
import { Service } from '../../kit/service.js';
import { until } from '../../kit/until.js';

const REQUESTS = 4;

describe('a service with its own database', () => {
  let service: Service;
  let admin: Caller;
  let database: pg.Client;
  /** Of all of them, one after the other. */
  let dataDir: string;

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'strongroom-stopping-'));
  });
  afterAll(() => rm(dataDir, { recursive: true, force: true }));

  beforeEach(async () => {
    service = await Service.start({ dataDir });
    admin = new Caller(service.url, await service.firstToken());
    database = new pg.Client({ connectionString: await embeddedUrl(service.dataDir) });
    database.on('error', () => undefined);
    await database.connect();
  });

  afterEach(async () => {
    await database.end();
    await service.kill();
  });

  /**
   * Different requests that the service is in the middle of: their statements wait for a lock, until `release`. For two seconds, by a
   * limit of the service: what takes long the first time is done before.
   */
  async function runningRequests() {
    await Promise.all(
      Array.from({ length: REQUESTS }, (_, index) => admin.get(`/api/v1/projects?limit=${index + 50}`)),
    );
    await database.query('begin');
    await database.query('lock table project in access exclusive mode');
    const replies = Array.from({ length: REQUESTS }, (_, index) => admin.get(`/api/v1/projects?limit=${index + 1}`));
    await until('the requests to wait for the lock', 20_000, async () => {
      const { rows } = await database.query(
        `select count(*)::int as count from pg_locks where not granted and relation = 'project'::regclass`,
      );
      return rows[0].count === REQUESTS;
    });
    return { replies: Promise.all(replies), release: () => database.query('rollback') };
  }

  /** A new connection is what it no longer takes. */
  const drained = () =>
    until('the service to drain', 20_000, async () => {
      const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
      const isTaken = await once(socket, 'connect').then(
        () => true,
        () => false,
      );
      socket.on('error', () => undefined).destroy();
      return !isTaken;
    });

  test.each(['SIGTERM', 'SIGINT'] as const)(
    'finishes on %s what it has begun, ends with 0, and leaves no Postgres behind',
    async (signal) => {
      const { replies, release } = await runningRequests();
      service.signal(signal);
      await drained();
      expect(service.child.exitCode).toBeNull();
      await release();
      expect((await replies).map(({ status, body }) => [status, body])).toEqual(
        Array.from({ length: REQUESTS }, () => [200, { projects: [] }]),
      );
      expect(await service.exit()).toBe(0);
      expect(await embeddedPostgres(service.dataDir)).toEqual([]);
    },
  );

  test('is not held by connections that ask for nothing: kept ones, and one without a single byte', async () => {
    expect((await admin.get('/api/v1/projects')).status).toBe(200);
    const silent = connect(Number(new URL(service.url).port), '127.0.0.1');
    silent.on('error', () => undefined);
    await once(silent, 'connect');
    // Answered after the silent one was taken: connections are taken in the order that they come.
    expect((await fetch(`${service.url}/livez`)).status).toBe(200);
    const begun = performance.now();
    const closed = once(silent, 'close').then(() => performance.now() - begun);
    service.signal('SIGTERM');
    expect(await closed).toBeLessThan(5_000);
    expect(await service.exit()).toBe(0);
    // What holds it is cut after so long. To stop Postgres takes some seconds on a busy machine.
    expect(performance.now() - begun).toBeLessThan(20_000);
  });

  test('goes on finishing when the signal comes twice within a second, as from Ctrl-C under npm', async () => {
    const { replies, release } = await runningRequests();
    service.signal('SIGINT');
    service.signal('SIGTERM');
    await drained();
    await release();
    expect((await replies).map(({ status }) => status)).toEqual(Array.from({ length: REQUESTS }, () => 200));
    expect(await service.exit()).toBe(0);
    expect(await embeddedPostgres(service.dataDir)).toEqual([]);
  });

  test('ends at once when it is told again later, and its Postgres after it', async () => {
    const { replies, release } = await runningRequests();
    replies.catch(() => undefined);
    // All of the first second count as one.
    await until('its end', 20_000, () => {
      service.signal('SIGTERM');
      return service.child.exitCode !== null;
    });
    expect(await service.exit()).toBe(1);
    release().catch(() => undefined);
    await until('Postgres to end', 20_000, async () => (await embeddedPostgres(service.dataDir)).length === 0);
  });
});
