import { Caller } from '../../kit/caller.js';
import { migratedDatabase } from '../../kit/databases.js';
import { describeWithPgBouncer, PgBouncer } from '../../kit/outside/pgbouncer.js';
import { Relay } from '../../kit/relay.js';
import { Seed } from '../../kit/seed.js';
import { Service } from '../../kit/service.js';
import { withClient } from '../../kit/tables.js';
import { until } from '../../kit/until.js';

/** What every connection of the service has, by whichever way it was set. */
const OF_CONNECTIONS = `select count(*)::int as count from pg_stat_activity
  where datname = current_database() and application_name = 'strongroom'`;

describeWithPgBouncer('behind a pooler of sessions', () => {
  test.each([
    ['that takes no settings at the start of a connection', []],
    ['that drops them', ['ignore_startup_parameters = options']],
  ])('%s, connections have their settings all the same, and their role', async (_, more) => {
    const databaseUrl = await migratedDatabase();
    const relay = await Relay.start(databaseUrl);
    const pooler = await PgBouncer.start(relay.url, more);
    const service = await Service.start({ env: { DATABASE_URL: pooler.url, LOG_LEVEL: 'info' } });
    try {
      const admin = new Caller(service.url, await service.firstToken());
      expect(service.output).toContain('"msg":"database behind a pooler"');
      expect((await admin.get('/readyz')).body).toMatchObject({ databaseRole: 'service' });
      await until('the job store', 30_000, async () => (await admin.get('/readyz')).body.jobs.connected);
      const project = await new Seed(admin).projectOf(admin);
      const place = { projectId: project.id, environment: 'dev' };
      const replies = await Promise.all(
        Array.from({ length: 20 }, (_each, index) =>
          admin.patient.post(`/api/v4/secrets/KEY_${index}`, { ...place, secretValue: 'one' }),
        ),
      );
      expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
      const listed = await admin.get(`/api/v4/secrets?${new URLSearchParams(place)}`);
      expect(listed.body.secrets).toHaveLength(20);
      await withClient(databaseUrl, async (client) => {
        expect((await client.query<{ count: number }>(OF_CONNECTIONS)).rows[0]?.count).toBeGreaterThan(0);
        // The limit of a lock is one of them: without it this would wait for ever.
        await client.query('begin');
        await client.query('lock table project in access exclusive mode');
        expect((await admin.patch(`/api/v1/projects/${project.id}`, { name: 'Held' })).status).toBeGreaterThanOrEqual(
          503,
        );
        await client.query('rollback');
      });
      expect(await service.stop()).toBe(0);
    } finally {
      await service.kill();
      await service.dispose();
      await pooler.stop();
      await relay.stop();
    }
  });
});
