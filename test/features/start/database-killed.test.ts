import { access, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { Caller } from '../../kit/caller.js';
import { Exposition } from '../../kit/exposition.js';
import { embeddedPostgres, embeddedUrl, signalEmbeddedPostgres, suspendEmbeddedPostgres } from '../../kit/processes.js';
import { Seed } from '../../kit/seed.js';
import { Service } from '../../kit/service.js';
import { until } from '../../kit/until.js';

/** Of all of these services, one after the other. */
let dataDir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'strongroom-killed-'));
});
afterAll(() => rm(dataDir, { recursive: true, force: true }));

test('a service whose embedded Postgres is killed says so, and serves again by itself', async () => {
  const service = await Service.start({ dataDir, env: { LOG_LEVEL: 'info' } });
  try {
    const admin = new Caller(service.url, await service.firstToken());
    const figures = async () => new Exposition((await admin.anonymous.get('/metrics')).text);
    const project = await new Seed(admin).projectOf(admin);
    const before = await figures();
    expect(before.has('strongroom_postgres_restarts_total')).toBe(true);
    expect(before.sum('strongroom_postgres_restarts_total')).toBe(0);
    // It counts as away when it does not answer within a second.
    await until('the database to be up', 20_000, async () => (await figures()).sum('strongroom_database_up') === 1);
    await until('the disk reserve', 20_000, async () => {
      return (await figures()).sum('strongroom_disk_reserve_bytes') === 64 * 1024 * 1024;
    });

    // Without its settings no server starts: else it could be back before it is missed.
    const settings = join(dataDir, 'postgres/postgresql.conf');
    await rename(settings, `${settings}.away`);
    await signalEmbeddedPostgres(dataDir, 'SIGKILL');
    expect(await admin.get('/readyz')).toBeError(503, 'STORE_UNAVAILABLE');
    expect(await admin.get(`/api/v1/projects/${project.id}`)).toBeError(503, 'STORE_UNAVAILABLE');
    expect((await admin.get('/livez')).status).toBe(200);
    await rename(`${settings}.away`, settings);

    await until('readiness', 60_000, async () => (await admin.get('/readyz')).status === 200);
    expect((await admin.get(`/api/v1/projects/${project.id}`)).status).toBe(200);
    // It serves as soon as there is an answer, which whoever started it may get a moment later.
    await until('the restart to be told', 20_000, () => /"msg":"postgres restarted"/.test(service.output));
    expect((await figures()).sum('strongroom_postgres_restarts_total')).toBe(1);
    expect(service.output).toMatch(/"msg":"postgres exited"/);
    expect(await service.stop()).toBe(0);
    expect(await embeddedPostgres(dataDir)).toEqual([]);
  } finally {
    await service.kill();
  }
});

test('a service whose Postgres is silent says that it cannot serve, and serves when it speaks again', async () => {
  const service = await Service.start({ dataDir });
  try {
    const anonymous = new Caller(service.url, null);
    const isUp = async () => new Exposition((await anonymous.get('/metrics')).text).sum('strongroom_database_up');
    expect((await anonymous.get('/readyz')).status).toBe(200);
    await suspendEmbeddedPostgres(dataDir);
    const replies = await Promise.all(Array.from({ length: 30 }, () => anonymous.get('/readyz')));
    for (const reply of replies) expect(reply).toBeError(503, 'STORE_UNAVAILABLE');
    expect(await isUp()).toBe(0);
    await signalEmbeddedPostgres(dataDir, 'SIGCONT');
    await until('readiness', 20_000, async () => (await anonymous.get('/readyz')).status === 200);
    await until('the metric', 20_000, async () => (await isUp()) === 1);
  } finally {
    await service.kill();
  }
});

test('a service whose embedded Postgres is killed again and again brings it back each time, after a short pause', async () => {
  const service = await Service.start({ dataDir, env: { LOG_LEVEL: 'info' } });
  const isReady = async () => (await new Caller(service.url, null).get('/readyz')).status === 200;
  const restarted = () => [...service.output.matchAll(/"nextWaitMs":(\d+),"msg":"postgres restarted"/g)];
  try {
    for (let kills = 1; kills <= 3; kills += 1) {
      await signalEmbeddedPostgres(dataDir, 'SIGKILL');
      await until(
        () => `the restart after kill ${kills}; it printed:\n${service.output}`,
        60_000,
        () => restarted().length === kills,
      );
      await until('readiness', 60_000, isReady);
    }
    expect(Math.max(...restarted().map(([, waitMs]) => Number(waitMs)))).toBeLessThanOrEqual(4_000);
  } finally {
    await service.kill();
  }
});

test('a service whose embedded Postgres has lost its socket file gets a new one by itself', async () => {
  const service = await Service.start({ dataDir, env: { LOG_LEVEL: 'info' } });
  const socket = join(dataDir, 'postgres/.s.PGSQL.5432');
  try {
    await rm(socket);
    // To stop the server may take 18 s, to start it again as long as its recovery.
    await until(
      () => `the socket file; it printed:\n${service.output}`,
      60_000,
      () => access(socket).then(() => true),
    );
    const url = await embeddedUrl(dataDir);
    await until('an answer on it', 60_000, async () => {
      const client = new pg.Client({ connectionString: url });
      client.on('error', () => undefined);
      await client.connect();
      await client.end();
      return true;
    });
    expect(service.output).toMatch(/"msg":"postgres socket lost"/);
    expect(await service.stop()).toBe(0);
    expect(await embeddedPostgres(dataDir)).toEqual([]);
  } finally {
    await service.kill();
  }
});

test('a service whose embedded Postgres is suspended ends on SIGTERM, and leaves no process of it behind', async () => {
  const service = await Service.start({ dataDir });
  const processes = () => embeddedPostgres(dataDir);
  try {
    const anonymous = new Caller(service.url, null);
    await Promise.all(Array.from({ length: 5 }, () => anonymous.get('/readyz')));
    await suspendEmbeddedPostgres(dataDir);
    service.signal('SIGTERM');
    await service.exit(35_000);
    await until('every process to end', 20_000, async () => (await processes()).length === 0);
  } finally {
    await service.kill();
  }
});
