import { Growth, SMALL_PAGES } from '../../../src/kernel/database/growth.js';
import { mustSucceed } from '../../kit/caller.js';
import { useStrongroom } from '../../kit/strongroom.js';
import { until } from '../../kit/until.js';

describe('tables have outgrown their plans', () => {
  const sizes = (pages: Readonly<Record<string, number>>) =>
    Object.entries(pages).map(([id, size]) => ({ id, pages: size }));

  test('when one has doubled since the plans were made, and not before', () => {
    const growth = new Growth();
    const grown = [100, 199, 200, 399, 350, 400, 800].map((pages) => growth.isOutgrown(sizes({ a: pages, b: 50 })));
    expect(grown).toEqual([false, false, true, false, false, true, true]);
  });

  test('when one is no longer small', () => {
    const growth = new Growth();
    expect(growth.isOutgrown([])).toBe(false);
    expect(growth.isOutgrown(sizes({ a: SMALL_PAGES }))).toBe(true);
    expect(growth.isOutgrown(sizes({ a: SMALL_PAGES, b: SMALL_PAGES }))).toBe(true);
    expect(growth.isOutgrown(sizes({ a: SMALL_PAGES, b: SMALL_PAGES }))).toBe(false);
  });
});

describe('a service whose tables grow', () => {
  const strongroom = useStrongroom({ LOG_LEVEL: 'debug' });

  test('plans its statements anew on the connections that it has, without a fault for a hundred callers', async () => {
    const { admin, project } = await strongroom.seed.project();
    const place = { projectId: project.id, environment: 'dev' };
    const list = () => admin.get(`/api/v4/secrets?projectId=${project.id}&environment=dev`);
    const crowd = () => Promise.all(Array.from({ length: 100 }, list));
    const connections = () =>
      strongroom.sql<{ pid: number }>(
        `select pid from pg_stat_activity where datname = current_database() and application_name = 'strongroom'`,
      );
    const renewals = async (): Promise<number> => (await strongroom.log()).split('"msg":"plans renewed"').length - 1;
    await crowd();
    const before = new Set((await connections()).map(({ pid }) => pid));
    expect(before.size).toBeGreaterThan(1);

    const seen = await renewals();
    for (let batch = 0; batch < 4; batch += 1) {
      const secrets = Array.from({ length: 500 }, (_, at) => ({ secretKey: `KEY_${batch}_${at}`, secretValue: 'x' }));
      mustSucceed(await admin.post('/api/v4/secrets/batch', { ...place, secrets }));
    }
    await until('plans renewed', 60_000, async () => {
      for (const { status } of await crowd()) expect(status).toBe(200);
      return (await renewals()) > seen;
    });
    expect((await list()).body.secrets).toHaveLength(2_000);
    const open = (await connections()).map(({ pid }) => pid);
    expect(open.filter((pid) => before.has(pid))).not.toEqual([]);
    expect(open.length).toBeLessThanOrEqual(20);
  });
});
