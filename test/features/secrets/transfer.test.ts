import { parse as parseWithDotenv } from 'dotenv';
import { parse as parseYaml } from 'yaml';
import { type Caller, type Reply, useStrongroom } from '../../kit/strongroom.js';

/** Values that some format finds hard to hold. */
const NASTY = {
  QUOTES: `"it's" 'so' "`,
  LINES: '-----BEGIN KEY-----\nabc\n\n# no comment\n-----END KEY-----\n',
  UNICODE: 'Zoë 🔑 日本 e\u0301',
  HASH: 'a # b #c',
  DOLLAR: '${A} $B $(c)',
  BACKSLASH: 'C:\\dir\\',
  BLANKS: '  \t around \t ',
  CARRIAGE: 'a\r\nb\rc',
  EQUALS: '=a=b==',
  EMPTY: '',
  NUMBER: '0x10',
  NULL_WORD: 'null',
  TICKS: "`a` 'b'",
} as const;

const IMPORT = `mutation ($input: ImportSecretsInput!) {
  importSecrets(input: $input) { secrets { secretKey line outcome } created changed unchanged skipped dryRun }
}`;

const details = ({ body }: Reply): string[] =>
  (body.details ?? body.errors[0].extensions.details).map(
    ({ path, code }: Record<string, string>) => `${path} ${code}`,
  );

describe('files of secrets', () => {
  const strongroom = useStrongroom();

  async function seeded() {
    const { admin, project } = await strongroom.seed.project();
    const at = { projectId: project.id, environment: 'dev', secretPath: '/' };
    return { admin, project, at };
  }

  type Place = Awaited<ReturnType<typeof seeded>>['at'];

  async function list(
    caller: Caller,
    at: Place,
  ): Promise<Record<string, { value: string; comment: string; version: number }>> {
    const { secrets } = (await caller.get(`/api/v4/secrets?${new URLSearchParams(at)}`)).body;
    return Object.fromEntries(
      secrets.map((it: Record<string, unknown>) => [
        it.secretKey,
        { value: it.secretValue, comment: it.secretComment, version: it.version },
      ]),
    );
  }

  const values = async (caller: Caller, at: Place) =>
    Object.fromEntries(Object.entries(await list(caller, at)).map(([key, { value }]) => [key, value]));

  const exported = (caller: Caller, at: Place, format: string, more: Record<string, string> = {}) =>
    caller.get(`/api/v4/secrets/export?${new URLSearchParams({ ...at, format, ...more })}`);

  test('come in as they were written, and go out so that every reader of their format reads the same', async () => {
    const { admin, at } = await seeded();
    const made = await admin.post('/api/v4/secrets/batch', {
      ...at,
      secrets: Object.entries(NASTY).map(([secretKey, secretValue]) => ({
        secretKey,
        secretValue,
        secretComment: `of ${secretKey}`,
      })),
    });
    expect(made.status).toBe(200);
    const readers: Record<string, (text: string) => unknown> = {
      dotenv: parseWithDotenv,
      json: JSON.parse,
      yaml: (text) => parseYaml(text) as unknown,
    };
    for (const [format, read] of Object.entries(readers)) {
      const { status, body, headers } = await exported(admin, at, format, { includeComments: 'true' });
      expect({ status, count: body.count, omitted: body.omitted }).toEqual({ status: 200, count: 13, omitted: 0 });
      expect(headers['cache-control']).toBe('no-store');
      expect(read(body.content)).toEqual(NASTY);
      expect(body.content.includes('# of HASH\n')).toBe(format !== 'json');
      const there = { ...at, environment: 'staging' };
      const back = await admin.post('/api/v4/secrets/import', {
        ...there,
        format,
        content: body.content,
        mode: 'overwrite',
      });
      expect([back.status, back.body.unchanged]).toEqual([200, format === 'dotenv' ? 0 : 13]);
      expect(await values(admin, there)).toEqual(NASTY);
    }
    const staged = await list(admin, { ...at, environment: 'staging' });
    expect(staged.LINES).toEqual({ value: NASTY.LINES, comment: 'of LINES', version: 1 });
  });

  test('are made of what a project’s .env file means to dotenv, with the lines above as comments', async () => {
    const { admin, at } = await seeded();
    const content = `# Shop\n\n# where it listens\nexport PORT=8080 # not of it\nKEY="one\\ntwo"\nPEM='-----BEGIN-----\nx\n-----END-----'\n`;
    const { importSecrets } = await admin.data(IMPORT, { input: { ...at, format: 'DOTENV', content } });
    expect(importSecrets).toEqual({
      secrets: [
        { secretKey: 'PORT', line: 4, outcome: 'CREATED' },
        { secretKey: 'KEY', line: 5, outcome: 'CREATED' },
        { secretKey: 'PEM', line: 6, outcome: 'CREATED' },
      ],
      created: 3,
      changed: 0,
      unchanged: 0,
      skipped: 0,
      dryRun: false,
    });
    expect(await list(admin, at)).toEqual({
      KEY: { value: 'one\ntwo', comment: '', version: 1 },
      PEM: { value: '-----BEGIN-----\nx\n-----END-----', comment: '', version: 1 },
      PORT: { value: '8080', comment: 'where it listens', version: 1 },
    });
  });

  describe('beside secrets that are there', () => {
    const content = '# said anew\nA: new\nB: "2"\nC: three\n';
    const there = [
      { secretKey: 'A', secretValue: 'old', secretComment: 'kept' },
      { secretKey: 'B', secretValue: '2', secretComment: 'kept too' },
    ];
    const imported = (caller: Caller, at: Place, mode: string, dryRun = false) =>
      caller.post('/api/v4/secrets/import', { ...at, format: 'yaml', content, mode, dryRun });

    test.each([
      [
        'overwrite',
        ['A changed', 'B unchanged', 'C created'],
        { A: ['new', 'said anew', 2], B: ['2', 'kept too', 1], C: ['three', '', 1] },
      ],
      [
        'skip-existing',
        ['A skipped', 'B skipped', 'C created'],
        { A: ['old', 'kept', 1], B: ['2', 'kept too', 1], C: ['three', '', 1] },
      ],
    ])('%s does what it says, and a dry run says the same and does nothing', async (mode, outcomes, after) => {
      const { admin, at } = await seeded();
      await admin.post('/api/v4/secrets/batch', { ...at, secrets: there });
      const before = await strongroom.sql('select * from secret order by id');
      const told = ({ body }: Reply) =>
        body.secrets.map(({ secretKey, outcome }: Record<string, string>) => `${secretKey} ${outcome}`);

      const dry = await imported(admin, at, mode, true);
      expect(told(dry)).toEqual(outcomes);
      expect(await strongroom.sql('select * from secret order by id')).toEqual(before);

      const real = await imported(admin, at, mode);
      expect(real.body).toEqual({ ...dry.body, dryRun: false });
      const now = Object.entries(await list(admin, at)).map(([key, it]) => [key, [it.value, it.comment, it.version]]);
      expect(Object.fromEntries(now)).toEqual(after);
      const kept = await strongroom.sql(
        'select count(*)::int as count from secret_version v join project p on p.id = v.project_id where p.id = $1',
        [at.projectId],
      );
      expect(kept[0]?.count).toBe(mode === 'overwrite' ? 4 : 3);
    });

    test('create-only is refused with the lines of all that are there, dry or not, and nothing changes', async () => {
      const { admin, at } = await seeded();
      await admin.post('/api/v4/secrets/batch', { ...at, secrets: there });
      for (const dryRun of [true, false]) {
        const reply = await imported(admin, at, 'create-only', dryRun);
        expect(reply).toBeError(409, 'SECRET_KEY_TAKEN');
        expect(details(reply)).toEqual(['content[2].A SECRET_KEY_TAKEN', 'content[3].B SECRET_KEY_TAKEN']);
      }
      expect(await values(admin, at)).toEqual({ A: 'old', B: '2' });
    });
  });

  test('leave one row in the audit trail each, that has counts and no values', async () => {
    const { admin, at } = await seeded();
    const send = (dryRun: boolean) =>
      admin.post('/api/v4/secrets/import', {
        ...at,
        format: 'json',
        content: '{"A":"cAnArY"}',
        mode: 'overwrite',
        dryRun,
      });
    for (const dryRun of [true, false, false]) expect((await send(dryRun)).status).toBe(200);
    const rows = await strongroom.auditRows(`project_id = $1 and action like 'secret:%'`, [at.projectId]);
    expect(rows.map(({ action, facts }) => [action, facts.created, facts.unchanged])).toEqual([
      ['secret:import-dry-run', 1, 0],
      ['secret:import', 1, 0],
      ['secret:import', 0, 1],
    ]);
    expect(JSON.stringify(rows)).not.toContain('cAnArY');
  });

  test('are refused with all their faults at once, by line and without their text', async () => {
    const { admin, at } = await seeded();
    const send = (format: string, content: string) => admin.post('/api/v4/secrets/import', { ...at, format, content });
    const env = await send('dotenv', 'GOOD=1\nS3cr3t line\nGOOD=2\n\n"S3cr3t"=1\n');
    expect(env).toBeError(422, 'VALIDATION_FAILED');
    expect(details(env)).toEqual(['content[2] NOT_A_PAIR', 'content[3] DUPLICATE', 'content[5] NOT_A_PAIR']);
    const json = await send('json', '{"A": 1,\n "B": {"S3cr3t": 1}, "S3cr3t text": null,\n"a/b": "1"}');
    expect(details(json)).toEqual([
      'content[1].A NOT_TEXT',
      'content[2].B NOT_TEXT',
      'content[2].? NOT_TEXT',
      'content[3].? INVALID',
    ]);
    const yaml = await send('yaml', 'A: &S3cr3t x\nB: *S3cr3t\nC:\n - S3cr3t\n');
    expect(details(yaml)).toEqual(['content[1].A ANCHOR', 'content[2].B ALIAS', 'content[4].C NOT_TEXT']);
    for (const { text } of [env, json, yaml]) expect(text).not.toContain('S3cr3t');
    expect(await values(admin, at)).toEqual({});
  });

  test('with a fault in the request are refused as such', async () => {
    const { admin, at } = await seeded();
    const reply = await admin.post('/api/v4/secrets/import', {
      ...at,
      format: 'env',
      content: 'A=\ud800',
      mode: 'all',
      dry: 1,
    });
    expect(details(reply).sort()).toEqual([
      'body.content INVALID',
      'body.dry UNKNOWN_KEY',
      'body.format INVALID_VALUE',
      'body.mode INVALID_VALUE',
    ]);
    expect(await exported(admin, at, 'toml')).toBeError(422, 'VALIDATION_FAILED');
  });

  test('may hold nothing, or as much as a request can carry', async () => {
    const { admin, at } = await seeded();
    const send = (format: string, content: string) => admin.post('/api/v4/secrets/import', { ...at, format, content });
    for (const [format, content] of [
      ['dotenv', ''],
      ['json', '{}'],
      ['yaml', '# none\n'],
    ] as const)
      expect((await send(format, content)).body).toMatchObject({ secrets: [], created: 0 });
    for (const [format, content] of [
      ['dotenv', ''],
      ['json', '{}\n'],
      ['yaml', '{}\n'],
    ] as const)
      expect((await exported(admin, at, format)).body).toEqual({ content, count: 0, omitted: 0 });
    const lines = Array.from(
      { length: 1_000 },
      (_, index) => `K${String(index).padStart(4, '0')}='${'x'.repeat(900)}'\n`,
    ).join('');
    const many = await strongroom.statements(() => send('dotenv', lines));
    expect(many.result.body).toMatchObject({ created: 1_000 });
    const one = await strongroom.statements(() => send('dotenv', 'ONE=1'));
    expect(many.count).toBe(one.count);
    expect((await exported(admin, at, 'dotenv')).body).toMatchObject({ count: 1_001 });
    const long = 'x'.repeat(512 * 1024);
    await send('json', JSON.stringify({ LONG: long }));
    expect((await values(admin, at)).LONG).toBe(long);
  });

  test('that a format cannot hold are named by their position', async () => {
    const { admin, at } = await seeded();
    await admin.post('/api/v4/secrets/batch', {
      ...at,
      secrets: [{ secretKey: 'A' }, { secretKey: 'B', secretValue: 'S3cr3t\r\\n' }, { secretKey: 'S3cr3t Ä' }],
    });
    const reply = await exported(admin, at, 'dotenv');
    expect(reply).toBeError(422, 'NOT_EXPRESSIBLE');
    expect(details(reply)).toEqual(['secrets[1].secretValue NOT_EXPRESSIBLE', 'secrets[2].secretKey NOT_EXPRESSIBLE']);
    expect(reply.text).not.toContain('S3cr3t');
    for (const format of ['json', 'yaml']) expect((await exported(admin, at, format)).body.count).toBe(3);
  });

  test('need the right to make secrets on the way in, and to know of some on the way out', async () => {
    const { admin, project, at } = await seeded();
    await admin.post('/api/v4/secrets/A', { ...at, secretValue: 'a' });
    const viewer = await strongroom.seed.caller(admin, { project: project.id });
    const powerless = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['no-access'] });
    const stranger = await strongroom.seed.caller(admin);
    for (const dryRun of [true, false]) {
      const given = { ...at, format: 'json', content: '{"A":"a"}', mode: 'overwrite', dryRun };
      expect(await viewer.post('/api/v4/secrets/import', given)).toBeError(403, 'PERMISSION_DENIED');
      expect(await stranger.post('/api/v4/secrets/import', given)).toBeError(404, 'PROJECT_NOT_FOUND');
    }
    expect((await exported(viewer, at, 'json')).body.content).toBe('{\n  "A": "a"\n}\n');
    expect(await exported(powerless, at, 'json')).toBeError(403, 'PERMISSION_DENIED');
    expect(await exported(stranger, at, 'json')).toBeError(404, 'PROJECT_NOT_FOUND');
    expect(await exported(viewer, { ...at, environment: 'none' }, 'json')).toBeError(404, 'ENVIRONMENT_NOT_FOUND');
    expect(await exported(viewer, { ...at, secretPath: '/none' }, 'json')).toBeError(404, 'FOLDER_NOT_FOUND');
  });

  test('imported by many at once are made once', async () => {
    const { admin, at } = await seeded();
    const content = Array.from({ length: 50 }, (_, index) => `K${index}=v\n`).join('');
    const send = (mode: string) => admin.post('/api/v4/secrets/import', { ...at, format: 'dotenv', content, mode });
    const replies = await Promise.all(
      ['skip-existing', 'overwrite', 'skip-existing', 'overwrite', 'create-only'].map(send),
    );
    const created = replies.map(({ status, body }) => (status === 200 ? body.created : body.code));
    expect(created.filter((it) => it === 50)).toHaveLength(1);
    expect(created.filter((it) => it !== 50 && it !== 0 && it !== 'SECRET_KEY_TAKEN')).toEqual([]);
    expect(Object.values(await list(admin, at)).map(({ version }) => version)).toEqual(
      Array.from({ length: 50 }, () => 1),
    );
  });

  describe('on the way out', () => {
    const create = (caller: Caller, at: Place, secrets: Readonly<Record<string, string>>) =>
      caller.post('/api/v4/secrets/batch', {
        ...at,
        secrets: Object.entries(secrets).map(([secretKey, secretValue]) => ({ secretKey, secretValue })),
      });

    /** `/` imports `/a`, which imports `/b`, and then `/c`. */
    async function importing() {
      const { admin, project, at } = await seeded();
      const [a, b, c] = ['/a', '/b', '/c'].map((secretPath) => ({ ...at, secretPath })) as [Place, Place, Place];
      for (const name of ['a', 'b', 'c'])
        await admin.post('/api/v2/folders', { projectId: at.projectId, environment: 'dev', name });
      for (const [place, path] of [
        [at, '/a'],
        [at, '/c'],
        [a, '/b'],
      ] as const)
        await admin.post('/api/v2/secret-imports', {
          projectId: at.projectId,
          environment: 'dev',
          path: place.secretPath,
          import: { environment: 'dev', path },
        });
      await create(admin, at, { OWN: 'own', LINK: '${OWN} and ${NONE}' });
      await create(admin, a, { OWN: 'a', A: 'a', AC: 'a', AB: 'a' });
      await create(admin, b, { AB: 'b', B: 'b', BC: 'b', '\u{1f511}': 'key' });
      await create(admin, c, { AC: 'c', BC: 'c', '\uff5e': 'tilde' });
      return { admin, project, at };
    }

    test('have what the folder imports only when that is asked for, each key as a single read answers it', async () => {
      const { admin, at } = await importing();
      const without = await exported(admin, at, 'json');
      expect(JSON.parse(without.body.content)).toEqual({ OWN: 'own', LINK: '${OWN} and ${NONE}' });
      const whole = await exported(admin, at, 'json', { include_imports: 'true' });
      const wanted = {
        A: 'a',
        AB: 'a',
        AC: 'c',
        B: 'b',
        BC: 'c',
        LINK: '${OWN} and ${NONE}',
        OWN: 'own',
        '\uff5e': 'tilde',
        '\u{1f511}': 'key',
      };
      expect(JSON.parse(whole.body.content)).toEqual(wanted);
      expect(Object.keys(JSON.parse(whole.body.content))).toEqual(Object.keys(wanted));
      expect(whole.body).toMatchObject({ count: 9, omitted: 0 });
      for (const [key, value] of Object.entries(wanted)) {
        const query = new URLSearchParams({ ...at, include_imports: 'true' });
        const single = await admin.get(`/api/v4/secrets/${encodeURIComponent(key)}?${query}`);
        expect([key, single.body.secret.secretValue]).toEqual([key, value]);
      }
    });

    test('have references expanded when that is asked for, and say how many are left', async () => {
      const { admin, at } = await importing();
      const reply = await exported(admin, at, 'dotenv', { expandSecretReferences: 'true' });
      expect(parseWithDotenv(reply.body.content)).toEqual({ OWN: 'own', LINK: 'own and ${NONE}' });
      expect(reply.headers['x-unresolved-references']).toBe('1');
      expect((await exported(admin, at, 'dotenv')).headers).not.toHaveProperty('x-unresolved-references');
    });

    test('have a user’s own value in place of the shared one, for that user', async () => {
      const { admin, project, at } = await importing();
      const ada = await strongroom.seed.user(admin, { project: project.id });
      await ada.post('/api/v4/secrets/OWN', { ...at, type: 'personal', secretValue: 'mine', secretComment: 'my own' });
      const mine = await exported(ada, at, 'yaml', { include_imports: 'true', includeComments: 'true' });
      expect(parseYaml(mine.body.content)).toMatchObject({ OWN: 'mine', A: 'a' });
      expect(mine.body.content).toContain('# my own\nOWN: "mine"\n');
      expect((await exported(admin, at, 'json')).body.content).toContain('"OWN": "own"');
    });
  });

  test('do not hide a secret with the key export: it is had by its id and over GraphQL', async () => {
    const { admin, at } = await seeded();
    await admin.post('/api/v4/secrets/batch', { ...at, secrets: [{ secretKey: 'export', secretValue: 'x' }] });
    const { secretByKey } = await admin.data(
      'query ($id: ID!) { secretByKey(projectId: $id, environment: "dev", secretKey: "export") { id secretValue } }',
      { id: at.projectId },
    );
    expect(secretByKey.secretValue).toBe('x');
    expect((await admin.get(`/api/v4/secrets/id/${secretByKey.id}`)).body.secret.secretKey).toBe('export');
    expect((await exported(admin, at, 'dotenv')).body.content).toBe('export=x\n');
  });
});
