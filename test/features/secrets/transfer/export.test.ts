import { parse as parseWithDotenv } from 'dotenv';
import { parse as parseYaml } from 'yaml';
import { type Caller, useSharedStrongroom } from '../../../kit/strongroom.js';
import { details, exported, list, type Place, seededPlace, values } from './files.js';

/** Values that some format finds hard to hold. */
const NASTY = {
  QUOTES: `"so" \`it\` "`,
  APOSTROPHE: "it's so",
  PEM: '-----BEGIN KEY-----\nabc\n\n# no comment\n-----END KEY-----\n',
  UNICODE: 'Zoë 🔑 日本 e\u0301',
  HASH: 'a # b #c',
  DOLLAR: '${A} $B $(c)',
  BACKSLASH: 'C:\\dir\\n',
  BLANKS: '  \t around \t ',
  EQUALS: '=a=b==',
  EMPTY: '',
  NUMBER: '0x10',
  NULL_WORD: 'null',
  TICKS: '`a`',
} as const;

describe('files of secrets on the way out', () => {
  const strongroom = useSharedStrongroom();
  const seeded = () => seededPlace(strongroom);

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
    expect(staged.PEM).toEqual({ value: NASTY.PEM, comment: 'of PEM', version: 1 });
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

  test('that a format cannot hold are named by their position, and by their keys if those are words', async () => {
    const { admin, at } = await seeded();
    await admin.post('/api/v4/secrets/batch', {
      ...at,
      secrets: [{ secretKey: 'A' }, { secretKey: 'B', secretValue: `S3cr3t"'` }, { secretKey: 'S3cr3t Ä' }],
    });
    const reply = await exported(admin, at, 'dotenv');
    expect(reply).toBeError(422, 'NOT_EXPRESSIBLE');
    expect(details(reply)).toEqual(['secrets[1].secretValue NOT_EXPRESSIBLE', 'secrets[2].secretKey NOT_EXPRESSIBLE']);
    expect(reply.body.details[0].message).toContain('the value of `B` ');
    expect(reply.text).not.toContain('S3cr3t');
    for (const format of ['json', 'yaml']) expect((await exported(admin, at, format)).body.count).toBe(3);
  });

  describe('with what else a folder shows', () => {
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

    test('with references that stay are in a .env file, but not with `${` that is text', async () => {
      const { admin, at } = await seeded();
      await create(admin, at, { TEXT: '$${A}', OPEN: '${NONE}' });
      expect((await exported(admin, at, 'dotenv')).body.content).toBe("OPEN='${NONE}'\nTEXT='$${A}'\n");
      const expanded = await exported(admin, at, 'dotenv', { expandSecretReferences: 'true' });
      expect(expanded).toBeError(422, 'NOT_EXPRESSIBLE');
      expect(details(expanded)).toEqual(['secrets[1].secretValue NOT_EXPRESSIBLE']);
    });

    test('keep text that looks like a reference through any format, written with $$', async () => {
      const { admin, at } = await seeded();
      const wanted = { A: 'a', TEXT: '$${A}', BOTH: '$${A}=${A}' };
      await create(admin, at, wanted);
      for (const [index, format] of ['dotenv', 'json', 'yaml'].entries()) {
        const { content } = (await exported(admin, at, format)).body;
        const there = { ...at, secretPath: `/copy${index}` };
        const { projectId, environment } = at;
        await admin.post('/api/v2/folders', { projectId, environment, name: `copy${index}` });
        expect((await admin.post('/api/v4/secrets/import', { ...there, format, content })).status).toBe(200);
        expect(await values(admin, there)).toEqual(wanted);
        const expanded = await exported(admin, there, 'json', { expandSecretReferences: 'true' });
        expect(JSON.parse(expanded.body.content)).toEqual({ A: 'a', TEXT: '${A}', BOTH: '${A}=a' });
      }
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
