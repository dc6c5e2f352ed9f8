import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { Exposition } from '../../../kit/exposition.js';
import { callerWithRules } from '../../../kit/rules.js';
import { type Caller, type SharedStrongroom, useSharedStrongroom } from '../../../kit/strongroom.js';
import { until } from '../../../kit/until.js';

const strongroom: SharedStrongroom = useSharedStrongroom({ REPLY_CACHE_MIB: '0' });

const PARTS = 100;
const PART_BYTES = 10_000;
/** Each is expanded to a million bytes. */
const WHOLES = 70;

const metrics = async (): Promise<Exposition> =>
  new Exposition((await strongroom.admin.anonymous.get('/metrics')).text);
const refused = async (reason: string): Promise<number> =>
  (await metrics()).sum('strongroom_load_refusals_total', { reason });

/** What no request has any more once it is answered. */
async function expectNothingLeft(): Promise<void> {
  await until('memory and turns to be free', 20_000, async () => {
    const page = await metrics();
    return page.sum('strongroom_response_memory_bytes') === 0 && page.sum('strongroom_heavy_reads') === 0;
  });
}

describe('secrets that are small, and large when their references are expanded', () => {
  let admin: Caller;
  let projectId: string;

  beforeAll(async () => {
    const seeded = await strongroom.seed.project();
    admin = seeded.admin;
    projectId = seeded.project.id;
    const put = (environment: string, secretPath: string, secrets: Record<string, string>) =>
      admin.post('/api/v4/secrets/batch', {
        projectId,
        environment,
        secretPath,
        secrets: Object.entries(secrets).map(([secretKey, secretValue]) => ({ secretKey, secretValue })),
      });
    const numbered = (prefix: string, count: number, value: string) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}_${index}`, value]));
    await put('dev', '/', numbered('A', PARTS / 2, 'x'.repeat(PART_BYTES)));
    await put('dev', '/', numbered('B', PARTS / 2, 'x'.repeat(PART_BYTES)));
    const all = ['A', 'B'].flatMap((prefix) =>
      Array.from({ length: PARTS / 2 }, (_, index) => `\${dev.${prefix}_${index}}`),
    );
    await put('dev', '/', { MIDDLE: all.join('') });
    await put('staging', '/', numbered('WHOLE', WHOLES, '${dev.MIDDLE}'));
    await admin.post('/api/v2/folders', { projectId, environment: 'prod', name: 'half' });
    await put('prod', '/half', numbered('WHOLE', WHOLES / 2, '${dev.MIDDLE}'));
    const link = { projectId, environment: 'prod', path: '/half', import: { environment: 'staging', path: '/' } };
    await admin.post('/api/v2/secret-imports', link);
  });

  const list = (query: string) =>
    admin.get(`/api/v4/secrets?projectId=${projectId}&expandSecretReferences=true&${query}`);
  const before = { size: 0 };
  beforeEach(async () => {
    before.size = await refused('size');
  });
  afterEach(expectNothingLeft);

  test('are refused as a list that would be too large, and had in pages', async () => {
    expect(await list('environment=staging')).toBeError(413, 'ANSWER_TOO_LARGE');
    expect(await refused('size')).toBe(before.size + 1);
    const page = await list('environment=staging&limit=20');
    expect(page.body.secrets.map(({ secretValue }: { secretValue: string }) => secretValue.length)).toEqual(
      Array(20).fill(PARTS * PART_BYTES),
    );
  });

  test('are refused as a list over GraphQL', async () => {
    const reply = await admin.graphql(
      `query ($id: ID!) { secrets(projectId: $id, environment: "staging", expandSecretReferences: true) { nodes { secretValue } } }`,
      { id: projectId },
    );
    expect(reply).toBeError(413, 'ANSWER_TOO_LARGE');
    expect(await refused('size')).toBe(before.size + 1);
  });

  test('count where they are imported', async () => {
    expect((await list('environment=prod&secretPath=/half')).status).toBe(200);
    expect(await list('environment=prod&secretPath=/half&include_imports=true')).toBeError(413, 'ANSWER_TOO_LARGE');
  });

  test('are refused as a file', async () => {
    const reply = await admin.graphql(
      `query ($id: ID!) { exportSecrets(projectId: $id, environment: "staging", format: JSON, expandSecretReferences: true) { content } }`,
      { id: projectId },
    );
    expect(reply).toBeError(413, 'ANSWER_TOO_LARGE');
  });

  test('count together in the lists of one document', async () => {
    const one = (name: string) =>
      `${name}: environments { secrets(path: "/half", expandSecretReferences: true) { nodes { secretValue } } }`;
    const read = (fields: string) =>
      admin.graphql(`query ($id: ID!) { project(id: $id) { ${fields} } }`, { id: projectId });
    expect((await read(one('one'))).body.errors).toBeUndefined();
    const reply = await read(`${one('one')} ${one('two')}`);
    const codes = reply.body.errors.map((error: { extensions: { code: string } }) => error.extensions.code);
    expect(new Set(codes)).toEqual(new Set(['ANSWER_TOO_LARGE']));
    expect(await refused('size')).toBeGreaterThan(before.size);
  });
});

describe('many lists of one token at once', () => {
  test('wait for each other, and another token waits for few of them', async () => {
    const { admin, project } = await strongroom.seed.project();
    await strongroom.seed.secrets(admin, project, 'dev', 500);
    const other = await strongroom.seed.caller(admin, { project: project.id });
    // Equal ones would share a response.
    const queryFor = (at: number) =>
      `query ($id: ID!) { list${at}: secrets(projectId: $id, environment: "dev") { nodes { secretValue } } }`;
    const finished: string[] = [];
    const ask = async (caller: Caller, name: string, at = 0) => {
      const { status, body } = await caller.graphql(queryFor(at), { id: project.id });
      finished.push(name);
      return `${status} ${body.errors?.[0].extensions.code}`;
    };

    // Those that run wait here, until most of the others wait for them.
    const client = new pg.Client({ connectionString: strongroom.databaseUrl });
    await client.connect();
    await client.query('begin');
    await client.query('lock table secret in access exclusive mode');
    const many = Array.from({ length: 90 }, (_, at) => ask(admin, 'many', at));
    const waiting = async () => (await metrics()).sum('strongroom_heavy_reads', { state: 'waiting' });
    await until('most to wait', 20_000, async () => (await waiting()) > 30).finally(() => client.end());
    expect(await ask(other, 'single')).toBe('200 undefined');
    const later = () => finished.length - finished.indexOf('single') - 1;
    await Promise.all(many);
    expect(later()).toBeGreaterThan(10);
    await expectNothingLeft();
  });

  test.each([
    'secrets(projectId: $id, environment: "dev", first: 1) { nodes { secretKey } }',
    'project(id: $id) { environments { secrets(first: 1) { nodes { secretKey } } } }',
  ])('wait for each other if they are short and rules decide on each secret: %s', async (list) => {
    const { admin, project } = await strongroom.seed.project();
    await strongroom.seed.secrets(admin, project, 'dev', 2);
    const { caller } = await callerWithRules(strongroom, admin, project.id, {
      subject: 'secrets',
      action: ['describeSecret', 'readValue'],
      conditions: { secretName: { $glob: 'KEY_*' } },
    });
    const client = new pg.Client({ connectionString: strongroom.databaseUrl });
    await client.connect();
    await client.query('begin');
    await client.query('lock table secret in access exclusive mode');
    const running = Array.from({ length: 10 }, (_, at) =>
      caller.graphql(`query List${at}($id: ID!) { ${list} }`, { id: project.id }),
    );
    const waiting = async () => (await metrics()).sum('strongroom_heavy_reads', { state: 'waiting' });
    await until('some to wait', 20_000, async () => (await waiting()) > 0).finally(() => client.end());
    for (const { body } of await Promise.all(running)) expect(body.errors).toBeUndefined();
    await expectNothingLeft();
  });

  test('leave no turn behind when their response is decided before it comes', async () => {
    const { admin, project } = await strongroom.seed.project();
    const list = 'secrets(projectId: $id, environment: "dev") { nodes { secretKey } }';
    const light = 'secrets(projectId: $unknown, environment: "dev", first: 1) { nodes { secretKey } }';
    const client = new pg.Client({ connectionString: strongroom.databaseUrl });
    await client.connect();
    await client.query('begin');
    await client.query('lock table secret in access exclusive mode');
    const running = Array.from({ length: 10 }, (_, at) =>
      admin.graphql(`query ($id: ID!) { list${at}: ${list} }`, { id: project.id }),
    );
    const waiting = async () => (await metrics()).sum('strongroom_heavy_reads', { state: 'waiting' });
    await until('some to wait', 20_000, async () => (await waiting()) > 0);
    const reply = await admin
      .graphql(`query ($id: ID!, $unknown: ID!) { heavy: ${list} ${light} }`, { id: project.id, unknown: randomUUID() })
      .finally(() => client.end());
    expect(reply).toBeError(404, 'PROJECT_NOT_FOUND');
    await Promise.all(running);
    await expectNothingLeft();
  });
});
