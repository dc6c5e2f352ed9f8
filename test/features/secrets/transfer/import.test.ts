import { type Caller, type Reply, useSharedStrongroom } from '../../../kit/strongroom.js';
import { details, exported, list, type Place, seededPlace, values } from './files.js';

const IMPORT = `mutation ($input: ImportSecretsInput!) {
  importSecrets(input: $input) { secrets { secretKey line outcome } created changed unchanged skipped isDryRun }
}`;

interface PreviewedSecret {
  readonly secretKey: string;
  readonly line: number;
  readonly previewedValue: string;
  readonly warnings: readonly { readonly reason: string }[];
}

describe('files of secrets on the way in', () => {
  const strongroom = useSharedStrongroom();
  const seeded = () => seededPlace(strongroom);

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
      isDryRun: false,
    });
    expect(await list(admin, at)).toEqual({
      KEY: { value: 'one\ntwo', comment: '', version: 1 },
      PEM: { value: '-----BEGIN-----\nx\n-----END-----', comment: '', version: 1 },
      PORT: { value: '8080', comment: 'where it listens', version: 1 },
    });
  });

  test('show in a preview what would be stored, and warn of what others read differently', async () => {
    const { admin, at } = await seeded();
    const content = 'A="one\\ntwo"\nB=$HOME\nC=\'${A}\' # c\nD=plain # d\n';
    const send = (dryRun: boolean) =>
      admin.post('/api/v4/secrets/import', { ...at, format: 'dotenv', content, dryRun });
    const preview = await send(true);
    expect(preview.headers['cache-control']).toBe('no-store');
    const shown = preview.body.secrets.map(({ secretKey, line, previewedValue, warnings }: PreviewedSecret) => [
      secretKey,
      line,
      previewedValue,
      warnings.map(({ reason }) => reason).join(' '),
    ]);
    expect(shown).toEqual([
      ['A', 1, 'one\ntwo', 'NOT_FOR_SHELL'],
      ['B', 2, '$HOME', 'VARIABLE NOT_FOR_SHELL'],
      ['C', 3, '${A}', 'VARIABLE'],
      ['D', 4, 'plain', ''],
    ]);
    expect(await values(admin, at)).toEqual({});
    const real = await send(false);
    expect(real.body.secrets[1]).toMatchObject({ previewedValue: null, warnings: [{ reason: 'VARIABLE' }, {}] });
    expect(await values(admin, at)).toEqual(Object.fromEntries(shown.map(([key, , value]: string[]) => [key, value])));
  });

  test('are refused by line and key where common readers would store different values', async () => {
    const { admin, at } = await seeded();
    const reply = await admin.post('/api/v4/secrets/import', {
      ...at,
      format: 'dotenv',
      content: 'A=1\nDB_PASS=ab#cd\nU="open\n',
      dryRun: true,
    });
    expect(reply).toBeError(422, 'VALIDATION_FAILED');
    expect(reply.body.details).toMatchObject([
      { path: 'body.content[2]', code: 'READERS_DIFFER', message: expect.stringContaining('`DB_PASS`') },
      { path: 'body.content[3]', code: 'READERS_DIFFER', message: expect.stringContaining('`U`') },
    ]);
    expect(reply.text).not.toMatch(/ab#cd|open/);
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
      const allSecrets = () =>
        strongroom.sql(`select count(*), md5(string_agg(secret::text, '' order by id)) from secret`);
      const before = await allSecrets();
      const reported = ({ body }: Reply) =>
        body.secrets.map(({ secretKey, outcome }: Record<string, string>) => `${secretKey} ${outcome}`);

      const dry = await imported(admin, at, mode, true);
      expect(reported(dry)).toEqual(outcomes);
      expect(await allSecrets()).toEqual(before);

      const real = await imported(admin, at, mode);
      const stored = dry.body.secrets.map((secret: object) => ({ ...secret, previewedValue: null }));
      expect(real.body).toEqual({ ...dry.body, secrets: stored, dryRun: false });
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
        expect(details(reply)).toEqual([
          'body.content[2].entry[1] SECRET_KEY_TAKEN',
          'body.content[3].entry[2] SECRET_KEY_TAKEN',
        ]);
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
    expect(details(env)).toEqual([
      'body.content[2] NOT_A_PAIR',
      'body.content[3] DUPLICATE',
      'body.content[5] NOT_A_PAIR',
    ]);
    const json = await send('json', '{"A": 1,\n "B": {"S3cr3t": 1}, "S3cr3t text": null,\n"a/b": "1"}');
    expect(details(json)).toEqual([
      'body.content[1].entry[1] NOT_TEXT',
      'body.content[2].entry[2] NOT_TEXT',
      'body.content[2].entry[3] NOT_TEXT',
      'body.content[3].entry[4] INVALID',
    ]);
    const yaml = await send('yaml', 'A: &S3cr3t x\nB: *S3cr3t\nC:\n - S3cr3t\n');
    expect(details(yaml)).toEqual([
      'body.content[1].entry[1] ANCHOR',
      'body.content[2].entry[2] ALIAS',
      'body.content[4].entry[3] NOT_TEXT',
    ]);
    for (const { text } of [env, json, yaml]) expect(text).not.toContain('S3cr3t');
    expect(await values(admin, at)).toEqual({});
  });

  test('with a fault in the request are refused as such', async () => {
    const { admin, at } = await seeded();
    const reply = await admin.post('/api/v4/secrets/import', {
      ...at,
      format: 'env',
      content: 1,
      mode: 'all',
      dry_run: true,
    });
    expect(details(reply).sort()).toEqual([
      'body UNKNOWN_KEY',
      'body.content INVALID_TYPE',
      'body.format INVALID_VALUE',
      'body.mode INVALID_VALUE',
    ]);
    expect(await exported(admin, at, 'toml')).toBeError(422, 'VALIDATION_FAILED');
  });

  test('imported by many at once are made once', async () => {
    const { admin, at } = await seeded();
    const content = Array.from({ length: 50 }, (_, index) => `K${index}=v\n`).join('');
    const send = (mode: string) =>
      admin.patient.post('/api/v4/secrets/import', { ...at, format: 'dotenv', content, mode });
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
});
