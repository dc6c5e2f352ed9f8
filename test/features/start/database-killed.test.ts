import { Caller } from '../../kit/caller.js';
import { Exposition } from '../../kit/exposition.js';
import { embeddedPostgres, killEmbeddedPostgres } from '../../kit/processes.js';
import { Seed } from '../../kit/seed.js';
import { Service } from '../../kit/service.js';
import { until } from '../../kit/until.js';

test('a service whose embedded Postgres is killed says so, and serves again by itself', async () => {
  const service = await Service.start({ env: { LOG_LEVEL: 'info' } });
  try {
    const admin = new Caller(service.url, /srt_[A-Za-z0-9_-]{49}/.exec(service.output)?.[0] as string);
    const figures = async () => new Exposition((await admin.anonymous.get('/metrics')).text);
    const project = await new Seed(admin).projectOf(admin);
    const before = await figures();
    expect(before.has('strongroom_postgres_restarts_total')).toBe(true);
    expect(before.sum('strongroom_postgres_restarts_total')).toBe(0);
    expect(before.sum('strongroom_database_up')).toBe(1);
    await until('the disk reserve', 20_000, async () => {
      return (await figures()).sum('strongroom_disk_reserve_bytes') === 64 * 1024 * 1024;
    });

    await killEmbeddedPostgres(service.dataDir);
    expect(await admin.get('/readyz')).toBeError(503, 'STORE_UNAVAILABLE');
    expect(await admin.get(`/api/v1/projects/${project.id}`)).toBeError(503, 'STORE_UNAVAILABLE');
    expect((await admin.get('/livez')).status).toBe(200);

    await until('readiness', 20_000, async () => (await admin.get('/readyz')).status === 200);
    expect((await admin.get(`/api/v1/projects/${project.id}`)).status).toBe(200);
    expect((await figures()).sum('strongroom_postgres_restarts_total')).toBe(1);
    expect(service.output).toMatch(/"msg":"postgres\.ended"/);
    expect(service.output).toMatch(/"msg":"postgres\.restarted"/);
    expect(await service.stop()).toBe(0);
    expect(await embeddedPostgres(service.dataDir)).toEqual([]);
  } finally {
    await service.kill();
    await service.dispose();
  }
});

test('a service whose Postgres is silent says that it cannot serve, and serves when it speaks again', async () => {
  const service = await Service.start();
  const signal = async (name: NodeJS.Signals) => {
    for (const pid of await embeddedPostgres(service.dataDir)) process.kill(pid, name);
  };
  try {
    const anonymous = new Caller(service.url, null);
    const isUp = async () => new Exposition((await anonymous.get('/metrics')).text).sum('strongroom_database_up');
    expect((await anonymous.get('/readyz')).status).toBe(200);
    await signal('SIGSTOP');
    const replies = await Promise.all(Array.from({ length: 30 }, () => anonymous.get('/readyz')));
    for (const reply of replies) expect(reply).toBeError(503, 'STORE_UNAVAILABLE');
    expect(await isUp()).toBe(0);
    await signal('SIGCONT');
    await until('readiness', 20_000, async () => (await anonymous.get('/readyz')).status === 200);
    await until('the metric', 20_000, async () => (await isUp()) === 1);
  } finally {
    await service.kill();
    await service.dispose();
  }
});
