import { Caller } from '../../kit/caller.js';
import { migratedDatabase } from '../../kit/databases.js';
import { Exposition } from '../../kit/exposition.js';
import { describeWithMongo } from '../../kit/mongo/mongo.js';
import { Service } from '../../kit/service.js';
import { until } from '../../kit/until.js';

const WITHIN_MS = 60_000;

async function withService(env: Record<string, string>, work: (service: Service) => Promise<void>): Promise<void> {
  const service = await Service.start({ env: { LOG_LEVEL: 'info', ...env } });
  try {
    await work(service);
    expect(await service.stop()).toBe(0);
  } finally {
    await service.kill();
    await service.dispose();
  }
}

const jobsOf = async ({ url }: Service) => (await new Caller(url, null).get('/readyz')).body.jobs;
const connected = (service: Service, isConnected: boolean) =>
  until(`connected to be ${isConnected}`, WITHIN_MS, async () => (await jobsOf(service)).connected === isConnected);

test('without a setting jobs are kept in the database of the service', async () =>
  withService({ DATABASE_URL: await migratedDatabase() }, async (service) => {
    await connected(service, true);
    expect(await jobsOf(service)).toEqual({ backend: 'postgres', connected: true });
  }));

describeWithMongo('a service with JOBS_URL=mongodb://', (mongo) => {
  test('shows the store, survives its end, and is whole again when it is back', async () =>
    withService({ DATABASE_URL: await migratedDatabase(), JOBS_URL: mongo().url }, async (service) => {
      const metric = async () =>
        new Exposition((await new Caller(service.url, null).get('/metrics')).text).sum(
          'strongroom_job_store_connected',
          { backend: 'mongodb' },
        );
      await connected(service, true);
      expect(await jobsOf(service)).toEqual({ backend: 'mongodb', connected: true });
      expect(await metric()).toBe(1);

      await mongo().goAway();
      await connected(service, false);
      expect((await new Caller(service.url, null).get('/readyz')).status).toBe(200);
      expect(await metric()).toBe(0);

      await mongo().comeBack();
      await connected(service, true);
      expect(service.output).toMatch(/"msg":"job store connection lost"/);
      expect(service.output).not.toContain(mongo().url);
    }));

  test('that is away at its start starts without it', async () => {
    await mongo().goAway();
    await withService({ DATABASE_URL: await migratedDatabase(), JOBS_URL: mongo().url }, async (service) => {
      expect(await jobsOf(service)).toEqual({ backend: 'mongodb', connected: false });
      await mongo().comeBack();
      await connected(service, true);
    });
  });
});
