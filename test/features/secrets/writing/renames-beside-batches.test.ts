import pg from 'pg';
import { type Caller, mustSucceed, type Reply } from '../../../kit/caller.js';
import { useSharedStrongroom } from '../../../kit/strongroom.js';
import { untilWaiting } from '../../../kit/waiting.js';

const KEYS = ['A', 'B', 'C'];

/** A rename locks the secret itself, and then those that name it: in no order that others could keep to. */
describe('a rename beside writes of several secrets of the folder', () => {
  const strongroom = useSharedStrongroom({}, 'no deadlocks');

  const hands: pg.Client[] = [];
  afterEach(() => Promise.all(hands.splice(0).map((hand) => hand.end())));

  /** A folder in which `A` names `C`, and a hand that holds single secrets of it, so that whoever writes these waits. */
  async function made() {
    const { admin, project } = await strongroom.seed.project();
    const place = { projectId: project.id, environment: 'dev' };
    const secrets = [...KEYS, 'D'].map((secretKey) => ({ secretKey, secretValue: secretKey === 'A' ? '${C}' : 'v' }));
    mustSucceed(await admin.post('/api/v4/secrets/batch', { ...place, secrets }));
    const locking = 'select key from secret where project_id = $1 and key = any($2) order by key for update';
    const hold = async (key: string) => {
      const hand = new pg.Client({ connectionString: strongroom.databaseUrl });
      hands.push(hand);
      await hand.connect();
      await hand.query('begin');
      await hand.query(locking, [project.id, [key]]);
      return () => hand.query('rollback');
    };
    const free = async () => {
      const rows = await strongroom.sql<{ key: string }>(`${locking} skip locked`, [project.id, KEYS]);
      return rows.map(({ key }) => key);
    };
    return { admin, place, hold, free };
  }
  type Place = Awaited<ReturnType<typeof made>>['place'];

  const update = (admin: Caller, place: Place, key: string): Promise<Reply> =>
    admin.patch(`/api/v4/secrets/${key}`, { ...place, secretValue: 'new' });
  const rename = (admin: Caller, place: Place): Promise<Reply> =>
    admin.patch('/api/v4/secrets/C', { ...place, newSecretName: 'Z' });

  test.each([
    ['change', { method: 'PATCH', of: { secretValue: 'new' } }],
    ['deletion', { method: 'DELETE', of: {} }],
  ])('that are one %s of a batch waits before it holds one of them', async (_, { method, of }) => {
    const { admin, place, hold, free } = await made();
    const release = await hold('B');
    const body = { ...place, secrets: KEYS.map((secretKey) => ({ secretKey, ...of })) };
    const batch = admin.request({ method, path: '/api/v4/secrets/batch', body });
    await untilWaiting(strongroom, 1, batch);
    const renamed = rename(admin, place);
    await untilWaiting(strongroom, 2, renamed);
    expect(await free()).toEqual(['C']);
    await release();
    expect((await batch).status).toBe(200);
    expect((await renamed).status).toBe(method === 'DELETE' ? 404 : 200);
  });

  test('that arrived at the same moment waits before it holds one of them', async () => {
    const { admin, place, hold, free } = await made();
    mustSucceed(await update(admin, place, 'D'));
    const [releaseFirst, release] = [await hold('D'), await hold('B')];
    const first = update(admin, place, 'D');
    await untilWaiting(strongroom, 1, first);
    const others = Promise.all(KEYS.map((key) => update(admin, place, key)));
    // By then these have come, and wait for the first one to share the next transaction.
    for (let left = 10; left > 0; left -= 1)
      mustSucceed(await admin.get(`/api/v4/secrets?${new URLSearchParams(place)}`));
    await releaseFirst();
    await first;
    await untilWaiting(strongroom, 1);
    const renaming = rename(admin, place);
    await untilWaiting(strongroom, 2, renaming);
    expect(await free()).toEqual(['C']);
    await release();
    expect((await others).map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await renaming).status).toBe(200);
  });

  test('that come back by a restore waits for the folder to which one of them was moved', async () => {
    const { admin, place, hold, free } = await made();
    const there = { ...place, secretPath: '/there' };
    mustSucceed(await admin.post('/api/v2/folders', { ...place, name: 'there' }));
    const [{ now: at }] = (await strongroom.sql<{ now: Date }>('select now()')) as [{ now: Date }];
    const listed = mustSucceed(await admin.get(`/api/v4/secrets?${new URLSearchParams(place)}`));
    const moved = (listed.body.secrets as { id: string; secretKey: string }[]).find(
      ({ secretKey }) => secretKey === 'C',
    );
    const to = { destinationEnvironment: 'dev', destinationSecretPath: '/there' };
    const from = { projectId: place.projectId, sourceEnvironment: 'dev', sourceSecretPath: '/' };
    mustSucceed(await admin.post('/api/v4/secrets/move', { ...from, ...to, secretIds: [moved?.id] }));
    const secrets = ['AA', 'BB', 'C'].map((secretKey) => ({ secretKey, secretValue: '${dev.Z}' }));
    mustSucceed(await admin.patch('/api/v4/secrets/batch', { ...there, mode: 'upsert', secrets }));
    mustSucceed(await admin.patch('/api/v4/secrets/D', { ...place, newSecretName: 'Z' }));

    const release = await hold('BB');
    const batch = admin.patch('/api/v4/secrets/batch', { ...there, mode: 'upsert', secrets });
    await untilWaiting(strongroom, 1, batch);
    const restored = admin.post('/api/v1/secrets/restore', { ...place, secretPath: '/', at });
    await untilWaiting(strongroom, 2, restored);
    expect(await free()).toContain('C');
    await release();
    expect((await batch).status).toBe(200);
    expect((await restored).status).toBe(200);
  });
});
