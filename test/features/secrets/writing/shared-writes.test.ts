import { mustSucceed } from '../../../kit/caller.js';
import { useSharedStrongroom } from '../../../kit/strongroom.js';

const strongroom = useSharedStrongroom();

describe('single writes of one caller in one folder at the same moment', () => {
  const COUNT = 20;
  const path = (key: string): string => `/api/v4/secrets/${key}`;
  const keys = Array.from({ length: COUNT }, (_, index) => `K${index}`);

  async function made() {
    const { admin, project } = await strongroom.seed.project();
    const body = { projectId: project.id, environment: 'dev', secretValue: 'v' };
    const recorded = (action: string) => strongroom.auditRows(`action = $2 and project_id = $1`, [project.id, action]);
    // The caller is known to the node from its second request on.
    await admin.post(path('FIRST'), body);
    return { admin, body, recorded };
  }

  const distinct = (values: readonly unknown[]): number => new Set(values).size;

  test('share statements; each has its own record, of its own request and secret, and none names another', async () => {
    const { admin, body, recorded } = await made();

    const create = await strongroom.statements(() => Promise.all(keys.map((key) => admin.post(path(key), body))));
    const update = await strongroom.statements(() =>
      Promise.all(keys.map((key) => admin.patch(path(key), { ...body, secretValue: `of ${key}` }))),
    );

    expect(create.count).toBeLessThan((COUNT * 6) / 2);
    expect(update.count).toBeLessThan((COUNT * 8) / 2);
    expect(create.result.map(({ body }) => [body.secret.secretKey, body.secret.version])).toEqual(
      keys.map((key) => [key, 1]),
    );
    expect(update.result.map(({ body }) => [body.secret.secretValue, body.secret.version])).toEqual(
      keys.map((key) => [`of ${key}`, 2]),
    );
    const ids = create.result.map(({ body }) => body.secret.id).sort();
    for (const [action, before] of [
      ['secret:create', 1],
      ['secret:update', 0],
    ] as const) {
      const rows = (await recorded(action)).slice(before);
      expect(rows.map(({ facts }) => facts.secretIds[0]).sort()).toEqual(ids);
      expect(rows.every(({ facts }) => facts.count === 1 && facts.secretIds.length === 1)).toBe(true);
      expect(distinct(rows.map(({ request_id }) => request_id))).toBe(COUNT);
      const states = rows.flatMap(({ facts }) => (facts.states as string[] | undefined) ?? []);
      expect(states.map((state) => state.split(':')[0]).sort()).toEqual(ids);
    }
  });

  test('are recorded with the program that sent each', async () => {
    const { admin, body, recorded } = await made();

    const send = (key: string) =>
      admin.request({ method: 'POST', path: path(key), body, headers: { 'user-agent': `program of ${key}` } });
    const replies = (await Promise.all(keys.map(send))).map(mustSucceed);

    const programs = (await recorded('secret:create')).map(({ facts, user_agent }) => [facts.secretIds[0], user_agent]);
    for (const { body } of replies)
      expect(programs).toContainEqual([body.secret.id, `program of ${body.secret.secretKey}`]);
  });

  test('fail each for itself', async () => {
    const { admin, body, recorded } = await made();

    const creations = await Promise.all(['FIRST', ...keys].map((key) => admin.post(path(key), body)));
    const updates = await Promise.all(['NONE', ...keys].map((key) => admin.patch(path(key), body)));

    expect(creations[0]).toBeError(409, 'SECRET_KEY_TAKEN');
    expect(updates[0]).toBeError(404, 'SECRET_NOT_FOUND');
    for (const reply of [...creations.slice(1), ...updates.slice(1)]) expect(reply.status).toBe(200);
    expect(await recorded('secret:create')).toHaveLength(1 + COUNT);
    expect(await recorded('secret:update')).toHaveLength(COUNT);
  });

  test('in batches of one fail for themselves, too', async () => {
    const { admin, body } = await made();
    const { secretValue, ...place } = body;
    const batch = (secretKey: string) => ({ ...place, secrets: [{ secretKey, secretValue }] });

    const updates = await Promise.all(keys.map((key) => admin.patch('/api/v4/secrets/batch', batch(key))));

    for (const reply of updates) expect(reply).toBeError(404, 'SECRET_NOT_FOUND');
  });

  test('in batches of one are recorded where their secret is', async () => {
    const { admin, body, recorded } = await made();
    const { secretValue, ...place } = body;
    const { folder } = mustSucceed(await admin.post('/api/v2/folders', { ...place, name: 'sub' })).body;
    const batch = (secretKey: string) => ({ ...place, secrets: [{ secretKey, secretValue, secretPath: '/sub' }] });

    const created = await Promise.all(keys.map((key) => admin.post('/api/v4/secrets/batch', batch(key))));

    for (const reply of created) expect(mustSucceed(reply).body.secrets[0].secretPath).toBe('/sub');
    const rows = (await recorded('secret:create')).slice(1);
    expect(rows.map(({ facts }) => facts.folderId)).toEqual(keys.map(() => folder.id));
  });

  test('of one secret are made one after the other', async () => {
    const { admin, body } = await made();
    const values = Array.from({ length: COUNT }, (_, index) => `v${index}`);

    const replies = await Promise.all(
      values.map((secretValue) => admin.patch(path('FIRST'), { ...body, secretValue })),
    );

    const versions = replies.map(({ body }) => body.secret.version).sort((a, b) => a - b);
    expect(versions).toEqual(values.map((_, index) => index + 2));
    const last = replies.find(({ body }) => body.secret.version === COUNT + 1);
    const query = `projectId=${body.projectId}&environment=dev`;
    expect((await admin.get(`${path('FIRST')}?${query}`)).body.secret.secretValue).toBe(last?.body.secret.secretValue);
  });
});
