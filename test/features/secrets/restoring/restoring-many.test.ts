import { type Caller, useSharedStrongroom } from '../../../kit/strongroom.js';

const RESTORE = '/api/v1/secrets/restore';

// biome-ignore lint/suspicious/noExplicitAny: replies of every shape
type Json = any;

describe('restoring a folder or an environment to a moment', () => {
  const strongroom = useSharedStrongroom();

  async function seeded() {
    const { admin, project } = await strongroom.seed.project();
    const at = { projectId: project.id, environment: 'dev' };
    for (const [path, name] of [
      ['/', 'app'],
      ['/app', 'deep'],
      ['/', 'other'],
    ] as const)
      await admin.post('/api/v2/folders', { ...at, path, name });
    return { admin, project, at };
  }

  /** The moment of the database: whatever was written so far is before it, whatever comes is after it. */
  const now = async (): Promise<string> => {
    const [row] = await strongroom.sql<{ now: Date }>('select now()');
    return String(row?.now.toISOString());
  };

  const write = async (caller: Caller, at: object, secretPath: string, values: Record<string, string>) => {
    const secrets = Object.entries(values).map(([secretKey, secretValue]) => ({ secretKey, secretValue }));
    const reply = await caller.patch('/api/v4/secrets/batch', { ...at, secretPath, mode: 'upsert', secrets });
    expect(reply.status).toBe(200);
    return reply.body.secrets.map(({ id }: { id: string }) => id) as string[];
  };

  /** Every secret of an environment, as the database has it: place and key to value, read over GraphQL folder by folder. */
  const state = async (caller: Caller, projectId: string, environment = 'dev'): Promise<Record<string, string>> => {
    const folders = await strongroom.sql<{ path: string }>(
      `select f.path from folder f join environment e on e.id = f.environment_id where e.project_id = $1 and e.slug = $2`,
      [projectId, environment],
    );
    const lists = await Promise.all(
      folders.map(({ path }) =>
        caller.get(`/api/v4/secrets?${new URLSearchParams({ projectId, environment, secretPath: path })}`),
      ),
    );
    return Object.fromEntries(
      lists
        .flatMap(({ body }) => body.secrets)
        .map(({ secretPath, secretKey, secretValue }: Json) => [`${secretPath}:${secretKey}`, secretValue] as const)
        .sort(),
    );
  };

  const names = (list: Json): string[] => list.map(({ secretPath, secretKey }: Json) => `${secretPath}:${secretKey}`);

  const NOTHING = { created: [], changed: [], deleted: [], createdFolders: [], leftOutTagIds: [] };

  test('brings back what was deleted, takes back what was changed, and deletes what was made since', async () => {
    const { admin, project, at } = await seeded();
    await write(admin, at, '/app', { KEPT: 'k', CHANGED: 'old', GONE: 'g' });
    await write(admin, at, '/app/deep', { DEEP: 'old' });
    await write(admin, at, '/', { OUTSIDE: 'old' });
    const before = await state(admin, project.id);
    const moment = await now();
    await write(admin, at, '/app', { CHANGED: 'new', MADE: 'm' });
    await write(admin, at, '/app/deep', { DEEP: 'new' });
    await write(admin, at, '/', { OUTSIDE: 'new' });
    await admin.delete('/api/v4/secrets/GONE', { ...at, secretPath: '/app' });

    const shallow = await admin.post(RESTORE, { ...at, secretPath: '/app', at: moment });
    expect(shallow.status).toBe(200);
    expect(shallow.body).toEqual({
      ...NOTHING,
      created: [{ secretPath: '/app', secretKey: 'GONE' }],
      changed: [{ secretPath: '/app', secretKey: 'CHANGED' }],
      deleted: [{ secretPath: '/app', secretKey: 'MADE' }],
    });
    expect(await state(admin, project.id)).toEqual({ ...before, '/:OUTSIDE': 'new', '/app/deep:DEEP': 'new' });

    const deep = await admin.post(RESTORE, { ...at, secretPath: '/app', at: moment, recursive: true });
    expect(deep.body).toEqual({ ...NOTHING, changed: [{ secretPath: '/app/deep', secretKey: 'DEEP' }] });
    const whole = await admin.post(RESTORE, { ...at, at: moment, recursive: true });
    expect(names(whole.body.changed)).toEqual(['/:OUTSIDE']);
    expect(await state(admin, project.id)).toEqual(before);
    const again = await admin.post(RESTORE, { ...at, at: moment, recursive: true });
    expect(again.body).toEqual(NOTHING);
  });

  test('gives back every part of a secret, and its id', async () => {
    const { admin, project, at } = await seeded();
    const { tag } = (await admin.post(`/api/v1/projects/${project.id}/tags`, { slug: 'db', color: 'red' })).body;
    const { tag: going } = (await admin.post(`/api/v1/projects/${project.id}/tags`, { slug: 'going', color: 'red' }))
      .body;
    const { secret } = (
      await admin.post('/api/v4/secrets/FULL', {
        ...at,
        secretValue: 'v',
        secretComment: 'c',
        secretMetadata: [{ key: 'k', value: 'm', isEncrypted: true }],
        secretReminderNote: 'n',
        secretReminderRepeatDays: 3,
        skipMultilineEncoding: true,
        tagIds: [tag.id, going.id],
      })
    ).body;
    const moment = await now();
    await admin.delete('/api/v4/secrets/FULL', at);
    await admin.delete(`/api/v1/projects/${project.id}/tags/${going.id}`);
    const restored = await admin.post(RESTORE, { ...at, at: moment });
    expect(restored.body).toMatchObject({ leftOutTagIds: [going.id] });
    expect((await admin.get(`/api/v4/secrets/id/${secret.id}`)).body.secret).toEqual({
      ...secret,
      version: 3,
      tags: secret.tags.filter(({ id }: Json) => id === tag.id),
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    expect((await admin.post(RESTORE, { ...at, at: moment })).body).toEqual({ ...NOTHING });
  });

  test('with dryRun tells the same, writes nothing, and is a read in the audit trail', async () => {
    const { admin, project, at } = await seeded();
    await write(admin, at, '/app', { A: '1', B: '1' });
    const moment = await now();
    await write(admin, at, '/app', { A: '2', C: '2' });
    await admin.delete('/api/v2/folders/app', { ...at, forceDelete: true });
    await write(admin, at, '/', { D: '2' });
    const before = await state(admin, project.id);
    const body = { ...at, at: moment, recursive: true };
    const dry = await admin.post(RESTORE, { ...body, dryRun: true });
    expect(dry.body).toEqual({
      ...NOTHING,
      created: [
        { secretPath: '/app', secretKey: 'A' },
        { secretPath: '/app', secretKey: 'B' },
      ],
      deleted: [{ secretPath: '/', secretKey: 'D' }],
      createdFolders: ['/app'],
    });
    expect(await state(admin, project.id)).toEqual(before);
    const done = await admin.post(RESTORE, body);
    expect(done.body).toEqual(dry.body);
    const rows = await strongroom.auditRows('request_id = any($1::uuid[])', [
      [dry.headers['x-request-id'], done.headers['x-request-id']],
    ]);
    expect(rows.map(({ action, facts }) => [action, facts.created, facts.deleted])).toEqual([
      ['secret:preview-restore', 2, 1],
      ['secret:restore-state', 2, 1],
    ]);
    expect(await state(admin, project.id)).toEqual({ '/app:A': '1', '/app:B': '1' });
  });

  test('swaps back two keys that were swapped, and the references with them', async () => {
    const { admin, project, at } = await seeded();
    const [a, b] = await write(admin, at, '/app', { A: 'a', B: 'b' });
    await write(admin, at, '/app', { INSIDE: '${A} ${B}' });
    await write(admin, at, '/other', { OUTSIDE: '${dev.app.A}' });
    const before = await state(admin, project.id);
    const moment = await now();
    const swap = [
      { secretKey: 'A', newSecretName: 'B' },
      { secretKey: 'B', newSecretName: 'A' },
    ];
    expect((await admin.patch('/api/v4/secrets/batch', { ...at, secretPath: '/app', secrets: swap })).status).toBe(200);
    expect(await state(admin, project.id)).toEqual({
      '/app:A': 'b',
      '/app:B': 'a',
      '/app:INSIDE': '${B} ${A}',
      '/other:OUTSIDE': '${dev.app.B}',
    });
    const restored = await admin.post(RESTORE, { ...at, secretPath: '/app', at: moment });
    expect(names(restored.body.changed)).toEqual(['/app:A', '/app:B', '/app:INSIDE']);
    expect(await state(admin, project.id)).toEqual(before);
    for (const [id, key] of [
      [a, 'A'],
      [b, 'B'],
    ])
      expect((await admin.get(`/api/v4/secrets/id/${id}`)).body.secret.secretKey).toBe(key);
  });

  test('puts back as a copy what was moved out, once, and deletes what came in', async () => {
    const { admin, project, at } = await seeded();
    const [out] = await write(admin, at, '/app', { OUT: 'o' });
    const [into] = await write(admin, at, '/other', { INTO: 'i' });
    const moment = await now();
    const move = (sourceSecretPath: string, destinationSecretPath: string, secretIds: unknown[], to = 'dev') =>
      admin.post('/api/v4/secrets/move', {
        projectId: project.id,
        sourceEnvironment: 'dev',
        sourceSecretPath,
        destinationEnvironment: to,
        destinationSecretPath,
        secretIds,
      });
    await move('/app', '/', [out], 'prod');
    await move('/other', '/app', [into]);
    const restored = await admin.post(RESTORE, { ...at, secretPath: '/app', at: moment });
    expect(restored.body).toEqual({
      ...NOTHING,
      created: [{ secretPath: '/app', secretKey: 'OUT' }],
      deleted: [{ secretPath: '/app', secretKey: 'INTO' }],
    });
    expect(await state(admin, project.id)).toEqual({ '/app:OUT': 'o' });
    expect(await state(admin, project.id, 'prod')).toEqual({ '/:OUT': 'o' });
    expect((await admin.get(`/api/v4/secrets/id/${out}`)).body.secret.environment).toBe('prod');
    expect((await admin.post(RESTORE, { ...at, secretPath: '/app', at: moment })).body).toEqual(NOTHING);
    await admin.post(`/api/v1/secrets/${into}/restore`, { version: 1 });
    expect(await state(admin, project.id)).toEqual({ '/app:INTO': 'i', '/app:OUT': 'o' });
    const whole = await admin.post(RESTORE, { ...at, at: moment, recursive: true });
    expect(names(whole.body.changed)).toEqual(['/other:INTO']);
    expect(await state(admin, project.id)).toEqual({ '/app:OUT': 'o', '/other:INTO': 'i' });
  });

  test('goes by the names that folders have now, and makes again those that are gone', async () => {
    const { admin, project, at } = await seeded();
    await write(admin, at, '/app', { A: 'old' });
    await write(admin, at, '/app/deep', { B: 'old' });
    const moment = await now();
    const { folders } = (await admin.get(`/api/v2/folders?projectId=${project.id}&environment=dev`)).body;
    const app = folders.find(({ name }: Json) => name === 'app');
    await admin.patch(`/api/v2/folders/${app.id}`, { ...at, name: 'shop' });
    await write(admin, at, '/shop', { A: 'new' });
    await admin.delete('/api/v2/folders/deep', { ...at, path: '/shop', forceDelete: true });
    expect((await admin.post(RESTORE, { ...at, secretPath: '/shop', at: moment })).body).toEqual({
      ...NOTHING,
      changed: [{ secretPath: '/shop', secretKey: 'A' }],
    });
    const whole = await admin.post(RESTORE, { ...at, at: moment, recursive: true });
    expect(whole.body).toEqual({
      ...NOTHING,
      created: [{ secretPath: '/shop/deep', secretKey: 'B' }],
      createdFolders: ['/shop/deep'],
    });
    expect(await state(admin, project.id)).toEqual({ '/shop/deep:B': 'old', '/shop:A': 'old' });
  });

  test('is refused with HISTORY_TOO_SHORT, naming the keys, when versions of that time are not kept, and changes nothing', async () => {
    const { admin, project, at } = await seeded();
    await admin.patch(`/api/v1/projects/${project.id}`, { pitVersionLimit: 2 });
    await write(admin, at, '/app', { OFTEN: '1', ONCE: '1', GONE: '1' });
    const moment = await now();
    await write(admin, at, '/app', { OFTEN: '2', ONCE: '2', GONE: '2' });
    const later = await now();
    await write(admin, at, '/app', { OFTEN: '3', GONE: '3' });
    await admin.delete('/api/v4/secrets/GONE', { ...at, secretPath: '/app' });
    const before = await state(admin, project.id);
    for (const dryRun of [true, false]) {
      const refused = await admin.post(RESTORE, { ...at, at: moment, recursive: true, dryRun });
      expect(refused).toBeError(409, 'HISTORY_TOO_SHORT');
      expect(refused.body.details.map(({ path }: Json) => path).sort()).toEqual(['/app/GONE', '/app/OFTEN']);
    }
    expect(await admin.post(RESTORE, { ...at, secretPath: '/app', at: later })).toBeError(409, 'HISTORY_TOO_SHORT');
    expect(await state(admin, project.id)).toEqual(before);
    expect((await admin.post(RESTORE, { ...at, at: moment })).body).toEqual(NOTHING);
  });

  test('of a version that does not open is refused and changes nothing; a present one that does not is mended', async () => {
    const { admin, project, at } = await seeded();
    const [a] = await write(admin, at, '/app', { A: '1', B: '1' });
    const moment = await now();
    await write(admin, at, '/app', { A: '2', B: '2' });
    const spoil = (version: number) =>
      strongroom.sql(
        `update secret_version v set value_sealed = o.value_sealed from secret_version o
         where v.secret_id = $1 and v.version = $2 and o.project_id = v.project_id and o.secret_id <> v.secret_id and o.version = v.version`,
        [a, version],
      );
    await strongroom.sql(
      'update secret s set value_sealed = v.value_sealed from secret_version v where s.id = $1 and v.secret_id = $1 and v.version = 1',
      [a],
    );
    expect(names((await admin.post(RESTORE, { ...at, secretPath: '/app', at: moment })).body.changed)).toEqual([
      '/app:A',
      '/app:B',
    ]);
    expect(await state(admin, project.id)).toEqual({ '/app:A': '1', '/app:B': '1' });
    await write(admin, at, '/app', { A: '4', B: '4' });
    await spoil(1);
    expect(await admin.post(RESTORE, { ...at, secretPath: '/app', at: moment })).toBeError(503, 'SEALED_VALUE_INVALID');
    expect(await state(admin, project.id)).toEqual({ '/app:A': '4', '/app:B': '4' });
  });

  test('is refused for a moment that is none, and for a place that is not and was not there', async () => {
    const { admin, at } = await seeded();
    const moment = await now();
    for (const wrong of ['', 'yesterday', '2026-02-30T00:00:00Z', '2026-01-01', '0000-01-01T00:00:00Z', 1])
      expect(await admin.post(RESTORE, { ...at, at: wrong })).toBeError(422, 'VALIDATION_FAILED');
    expect(await admin.post(RESTORE, { ...at, secretPath: '/no', at: moment })).toBeError(404, 'FOLDER_NOT_FOUND');
    expect(await admin.post(RESTORE, { ...at, environment: 'no', at: moment })).toBeError(404, 'ENVIRONMENT_NOT_FOUND');
    expect((await admin.post(RESTORE, { ...at, secretPath: '/app', at: '9999-12-31T23:59:59+14:00' })).body).toEqual(
      NOTHING,
    );
  });

  test('while others write there loses nothing: every version is there, and the newest is what the secret is', async () => {
    const { admin, project, at } = await seeded();
    await admin.patch(`/api/v1/projects/${project.id}`, { pitVersionLimit: 100 });
    const keys = ['A', 'B', 'C', 'D'];
    await write(admin, at, '/app', Object.fromEntries(keys.map((key) => [key, 'old'])));
    const moment = await now();
    const place = { ...at, secretPath: '/app' };
    const requests = Array.from({ length: 24 }, (_, index) => {
      const key = keys[index % keys.length] as string;
      if (index % 3 === 0) return admin.patient.post(RESTORE, { ...place, at: moment });
      if (index % 5 === 0) return admin.patient.delete(`/api/v4/secrets/${key}`, place);
      return admin.patient.patch('/api/v4/secrets/batch', {
        ...place,
        mode: 'upsert',
        secrets: [{ secretKey: key, secretValue: `new ${index}` }],
      });
    });
    const statuses = (await Promise.all(requests)).map(({ status }) => status);
    expect(statuses.filter((status) => ![200, 404, 409].includes(status))).toEqual([]);
    const gaps = await strongroom.sql(
      `select secret_id from secret_version where project_id = $1 group by secret_id
       having count(*) <> max(version) or min(version) <> 1`,
      [project.id],
    );
    expect(gaps).toEqual([]);
    const astray = await strongroom.sql(
      `select s.id from secret s join lateral (
         select * from secret_version v where v.secret_id = s.id order by v.version desc limit 1) v on true
       where s.project_id = $1 and (v.version <> s.version or v.key <> s.key)`,
      [project.id],
    );
    expect(astray).toEqual([]);
    expect((await admin.post(RESTORE, { ...place, at: moment })).status).toBe(200);
    expect(await state(admin, project.id)).toEqual(Object.fromEntries(keys.map((key) => [`/app:${key}`, 'old'])));
  });

  test('of 100 secrets takes as many statements as of 10, and one audit row', async () => {
    const { admin, at } = await seeded();
    const counts: number[] = [];
    const values = (length: number, value: string) =>
      Object.fromEntries(Array.from({ length }, (_, index) => [`K${index}`, value]));
    await write(admin.patient, at, '/', values(500, 'warm'));
    for (const [folder, length] of [
      ['/app', 10],
      ['/other', 100],
    ] as const) {
      await write(admin, at, folder, values(length, 'old'));
      const moment = await now();
      await write(admin, at, folder, { ...values(length / 2, 'new'), MADE: 'm', MORE: 'm' });
      const secrets = [{ secretKey: `K${length - 1}` }, { secretKey: `K${length - 2}` }];
      await admin.delete('/api/v4/secrets/batch', { ...at, secretPath: folder, secrets });
      const { result, count } = await strongroom.statements(() =>
        admin.post(RESTORE, { ...at, secretPath: folder, at: moment }),
      );
      expect([result.body.created, result.body.changed, result.body.deleted].map(({ length: many }) => many)).toEqual([
        2,
        length / 2,
        2,
      ]);
      expect(await strongroom.auditRows('request_id = $1', [result.headers['x-request-id']])).toHaveLength(1);
      counts.push(count);
    }
    const [ofTen = 0, ofHundred = 0] = counts;
    // A block of a thousand seals may run out in between, which is one statement more.
    expect(Math.abs(ofHundred - ofTen)).toBeLessThanOrEqual(1);
    expect(ofHundred).toBeLessThanOrEqual(24);
  });
});
