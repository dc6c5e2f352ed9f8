import { type Caller, type Reply, useSharedStrongroom } from '../../../kit/strongroom.js';

const BATCHES = ['/api/v4/secrets/batch', '/api/v3/secrets/batch/raw'];
type Row = Record<string, string>;

describe.each(BATCHES)('a batch at %s', (BATCH) => {
  const strongroom = useSharedStrongroom();

  async function scene() {
    const { admin, project } = await strongroom.seed.project();
    const at = { [BATCH.includes('v3') ? 'workspaceId' : 'projectId']: project.id, environment: 'dev' };
    const make = (path: string, name: string) =>
      admin.post('/api/v2/folders', { projectId: project.id, environment: 'dev', path, name });
    await make('/', 'a');
    await make('/', 'b');
    const present = { projectId: project.id, environment: 'dev' };
    for (const secretPath of ['/', '/a', '/b'])
      await admin.post('/api/v4/secrets/S', { ...present, secretPath, secretValue: `of ${secretPath}` });
    const list = async (caller: Caller = admin): Promise<Record<string, string>> => {
      const query = new URLSearchParams({ ...present, recursive: 'true' });
      const { secrets } = (await caller.get(`/api/v4/secrets?${query}`)).body as { secrets: Row[] };
      const nameOf = (row: Row) => `${row.secretPath} ${row.secretKey}${row.type === 'personal' ? ' mine' : ''}`;
      return Object.fromEntries(secrets.map((row) => [nameOf(row), row.secretValue as string]));
    };
    const written = ({ body }: Reply) =>
      body.secrets.map((row: Row) => [row.secretPath, row.secretKey, row.type, row.secretValue]);
    return { admin, project, at, list, written };
  }
  const WHOLE = { '/ S': 'of /', '/a S': 'of /a', '/b S': 'of /b' };
  const pathsOf = ({ body }: Reply) => body.details.map(({ path }: { path: string }) => path);

  test('changes each secret in its own folder, and no other', async () => {
    const { admin, at, list, written } = await scene();
    const secrets = [
      { secretKey: 'S', secretPath: '/b/', secretValue: 'new b' },
      { secretKey: 'S', secretPath: '/a', secretValue: 'new a' },
    ];
    const reply = await admin.patch(BATCH, { ...at, secretPath: '/', mode: 'failOnNotFound', secrets });
    expect(reply.status).toBe(200);
    expect(written(reply)).toEqual([
      ['/b', 'S', 'shared', 'new b'],
      ['/a', 'S', 'shared', 'new a'],
    ]);
    expect(await list()).toEqual({ ...WHOLE, '/a S': 'new a', '/b S': 'new b' });
    const one = await admin.patch(BATCH, {
      ...at,
      secretPath: '/a',
      secrets: [{ secretKey: 'S', secretPath: '/b', secretValue: 'newer b' }],
    });
    expect(written(one)).toEqual([['/b', 'S', 'shared', 'newer b']]);
    expect(await list()).toEqual({ ...WHOLE, '/a S': 'new a', '/b S': 'newer b' });
  });

  test('creates and upserts in the folder of each', async () => {
    const { admin, at, list } = await scene();
    const made = await admin.post(BATCH, {
      ...at,
      secretPath: '/a',
      secrets: [
        { secretKey: 'N', secretValue: '1' },
        { secretKey: 'N', secretValue: '2', secretPath: '/b' },
      ],
    });
    expect(made.status).toBe(200);
    const upserted = await admin.patch(BATCH, {
      ...at,
      mode: 'upsert',
      secrets: [
        { secretKey: 'S', secretPath: '/a', secretValue: 'put' },
        { secretKey: 'M', secretPath: '/b', secretValue: 'put' },
        { secretKey: 'M', secretValue: 'put' },
      ],
    });
    expect(upserted.status).toBe(200);
    expect(await list()).toEqual({
      ...WHOLE,
      ...{ '/a N': '1', '/b N': '2', '/a S': 'put', '/b M': 'put', '/ M': 'put' },
    });
    const taken = await admin.post(BATCH, {
      ...at,
      secrets: [{ secretKey: 'X' }, { secretKey: 'N', secretPath: '/a' }, { secretKey: 'N', secretPath: '/b' }],
    });
    expect(taken).toBeError(409, 'SECRET_KEY_TAKEN');
    expect(pathsOf(taken)).toEqual(['body.secrets[1].secretKey', 'body.secrets[2].secretKey']);
    expect(Object.keys(await list())).not.toContain('/ X');
  });

  test('renames in one folder what another one refers to', async () => {
    const { admin, at, list } = await scene();
    const secrets = [
      { secretKey: 'S', secretPath: '/a', newSecretName: 'T' },
      { secretKey: 'S', secretPath: '/b', secretValue: '<${dev.a.S}>' },
    ];
    expect((await admin.patch(BATCH, { ...at, secrets })).status).toBe(200);
    expect(await list()).toEqual({ '/ S': 'of /', '/a T': 'of /a', '/b S': '<${dev.a.T}>' });
  });

  test('deletes each secret from its own folder', async () => {
    const { admin, at, list, written } = await scene();
    const secrets = [
      { secretKey: 'S', secretPath: '/b' },
      { secretKey: 'S', secretPath: '/a' },
    ];
    const reply = await admin.delete(BATCH, { ...at, secrets });
    expect(written(reply)).toEqual([
      ['/b', 'S', 'shared', 'of /b'],
      ['/a', 'S', 'shared', 'of /a'],
    ]);
    expect(await list()).toEqual({ '/ S': 'of /' });
  });

  test('is all or nothing, with every violation', async () => {
    const { admin, at, list } = await scene();
    const missing = { secretKey: 'NOT_THERE', secretPath: '/a', secretValue: 'x' };
    const change = { secretKey: 'S', secretPath: '/b', secretValue: 'x' };
    const refused = await admin.patch(BATCH, { ...at, secrets: [change, missing, { ...missing, secretPath: '/' }] });
    expect(refused).toBeError(404, 'SECRET_NOT_FOUND');
    expect(pathsOf(refused)).toEqual(['body.secrets[1].secretKey', 'body.secrets[2].secretKey']);
    const nowhere = { ...change, secretPath: '/nowhere' };
    for (const send of [admin.post, admin.patch, admin.delete]) {
      const items = [change, nowhere, { ...nowhere, secretKey: 'T' }].map(({ secretValue, ...item }) =>
        send === admin.delete ? item : { ...item, secretValue },
      );
      const lost = await send.call(admin, BATCH, { ...at, secrets: items });
      expect(lost).toBeError(404, 'FOLDER_NOT_FOUND');
      expect(pathsOf(lost)).toEqual(['body.secrets[1].secretPath', 'body.secrets[2].secretPath']);
    }
    const twice = await admin.patch(BATCH, { ...at, secrets: [change, { ...change, secretPath: '/b/' }] });
    expect(twice).toBeError(422, 'VALIDATION_FAILED');
    expect(pathsOf(twice)).toContain('body.secrets[1].secretKey');
    expect(await list()).toEqual(WHOLE);
  });

  test('needs the rights at the folder of each secret', async () => {
    const { admin, project, at, list } = await scene();
    await admin.post(`/api/v1/projects/${project.id}/roles`, {
      ...{ slug: 'of-a', name: 'Of a' },
      permissions: [
        {
          subject: 'secrets',
          action: ['describeSecret', 'readValue', 'create', 'edit', 'delete'],
          conditions: { secretPath: { $glob: '/a' } },
        },
        { subject: 'secrets', action: ['describeSecret', 'readValue'] },
      ],
    });
    const caller = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['of-a'] });
    const own = { secretKey: 'S', secretPath: '/a' };
    const other = { secretKey: 'S', secretPath: '/b' };
    const base = { ...at, secretPath: '/a' };
    const changed = (item: object) => ({ ...item, secretValue: 'x' });
    for (const mode of ['fail', 'upsert', 'ignore'])
      expect(await caller.patch(BATCH, { ...base, mode, secrets: [own, other].map(changed) })).toBeError(
        403,
        'PERMISSION_DENIED',
      );
    const fresh = [{ secretKey: 'N' }, { secretKey: 'N', secretPath: '/b' }];
    expect(await caller.post(BATCH, { ...base, secrets: fresh })).toBeError(403, 'PERMISSION_DENIED');
    expect(await caller.delete(BATCH, { ...base, secrets: [own, other] })).toBeError(403, 'PERMISSION_DENIED');
    expect(await list()).toEqual(WHOLE);
    expect((await caller.patch(BATCH, { ...base, secrets: [changed(own)] })).status).toBe(200);
  });

  test('of personal secrets never touches the shared ones', async () => {
    const { admin, project, at, list, written } = await scene();
    const ada = await strongroom.seed.user(admin, { project: project.id, projectRoles: ['admin'] });
    const item = (secretPath: string, rest: object = {}) => ({ secretKey: 'S', type: 'personal', secretPath, ...rest });
    const made = await ada.post(BATCH, {
      ...at,
      secrets: [
        item('/b', { secretValue: 'mine b' }),
        item('/a', { secretValue: 'mine a' }),
        { secretKey: 'NEW', secretValue: 'shared' },
        { secretKey: 'NEW', type: 'personal', secretValue: 'mine new' },
      ],
    });
    expect(written(made)).toEqual([
      ['/b', 'S', 'personal', 'mine b'],
      ['/a', 'S', 'personal', 'mine a'],
      ['/', 'NEW', 'shared', 'shared'],
      ['/', 'NEW', 'personal', 'mine new'],
    ]);
    const changed = await ada.patch(BATCH, { ...at, secrets: [item('/a', { secretValue: 'mine too' })] });
    expect(written(changed)).toEqual([['/a', 'S', 'personal', 'mine too']]);
    const shared = { ...WHOLE, '/ NEW': 'shared' };
    expect(await list(ada)).toEqual({
      ...shared,
      '/a S mine': 'mine too',
      '/b S mine': 'mine b',
      '/ NEW mine': 'mine new',
    });
    const deleted = await ada.delete(BATCH, { ...at, secrets: [item('/a'), item('/b')] });
    expect(deleted.status).toBe(200);
    expect(await list()).toEqual(shared);
    // There are none any more: the shared ones stay.
    const again = await ada.delete(BATCH, { ...at, secrets: [{ secretKey: 'S' }, item('/a')] });
    expect(again).toBeError(404, 'SECRET_NOT_FOUND');
    expect(pathsOf(again)).toEqual(['body.secrets[1].secretKey']);
    expect(await list(ada)).toEqual({ ...shared, '/ NEW mine': 'mine new' });
    // Personal values go with their shared secret: to delete both is no contradiction.
    const both = await ada.delete(BATCH, {
      ...at,
      secrets: [{ secretKey: 'NEW' }, { secretKey: 'NEW', type: 'personal' }],
    });
    expect(both.body.secrets.map(({ type }: { type: string }) => type)).toEqual(['shared', 'personal']);
    expect(await list(ada)).toEqual(WHOLE);
  });

  test('upserts and ignores personal secrets by their mode', async () => {
    const { admin, project, at, list, written } = await scene();
    const ada = await strongroom.seed.user(admin, { project: project.id, projectRoles: ['admin'] });
    const mine = { secretKey: 'S', type: 'personal', secretValue: 'mine' };
    const none = { ...mine, secretKey: 'NOT_THERE' };
    const send = (mode: string, ...secrets: object[]) => ada.patch(BATCH, { ...at, mode, secrets });
    expect(await send('failOnNotFound', mine)).toBeError(404, 'SECRET_NOT_FOUND');
    expect((await send('ignore', mine, none)).body.secrets).toEqual([]);
    expect(await send('upsert', mine, none)).toBeError(404, 'SECRET_NOT_FOUND');
    expect(await list(ada)).toEqual(WHOLE);
    expect(written(await send('upsert', mine))).toEqual([['/', 'S', 'personal', 'mine']]);
    expect(written(await send('upsert', { ...mine, secretValue: 'more' }))).toEqual([['/', 'S', 'personal', 'more']]);
    expect(await list(ada)).toEqual({ ...WHOLE, '/ S mine': 'more' });
  });

  test('of personal secrets is refused by what it asks, each violation by its path', async () => {
    const { admin, project, at, list } = await scene();
    const item = { secretKey: 'S', type: 'personal', secretValue: 'x' };
    const asMachine = await admin.patch(BATCH, { ...at, secrets: [item, { ...item, secretPath: '/a' }] });
    expect(asMachine).toBeError(422, 'VALIDATION_FAILED');
    expect(pathsOf(asMachine)).toEqual(['body.secrets[0].type', 'body.secrets[1].type']);
    const ada = await strongroom.seed.user(admin, { project: project.id, projectRoles: ['admin'] });
    const many = Array.from({ length: 50 }, (_, index) => ({ ...item, secretKey: `K${index}` }));
    const secrets = [item, { ...item, secretReminderNote: 'renew' }, ...many];
    const refused = await ada.patch(BATCH, { ...at, secrets });
    expect(refused).toBeError(422, 'VALIDATION_FAILED');
    expect(pathsOf(refused)).toEqual([
      'body.secrets',
      'body.secrets[1].secretReminderNote',
      'body.secrets[1].secretKey',
    ]);
    expect(await list(ada)).toEqual(WHOLE);
  });

  test('takes a number of statements that does not grow with its folders', async () => {
    const { admin, project, at } = await scene();
    const paths = Array.from({ length: 40 }, (_, index) => `/f${index}`);
    for (const path of paths)
      await admin.post('/api/v2/folders', {
        projectId: project.id,
        environment: 'dev',
        path: '/',
        name: path.slice(1),
      });
    const upsert = (count: number) =>
      strongroom.statements(() =>
        admin.patch(BATCH, {
          ...at,
          mode: 'upsert',
          secrets: paths.slice(0, count).map((secretPath) => ({ secretKey: 'K', secretPath, secretValue: 'x' })),
        }),
      );
    await upsert(2);
    const { count: few } = await upsert(3);
    const { count: many } = await upsert(40);
    expect(many).toBeLessThanOrEqual(few + 1);
  });
});
