import { execFile, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { getIntrospectionQuery } from 'graphql';
import type { Caller, Reply } from '../../kit/caller.js';
import { COMPILE_CACHE, Service } from '../../kit/service.js';
import { freshDatabase, type SecondNode, type Strongroom, useStrongroom } from '../../kit/strongroom.js';
import { until } from '../../kit/until.js';

const ROOT = resolve(import.meta.dirname, '../../..');
const folder = mkdtempSync(join(tmpdir(), 'strongroom-persist-'));
const manifest = join(folder, 'persisted-documents.json');
afterAll(() => rmSync(folder, { recursive: true }));

const idOf = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`;

/** What `npm run persist` runs, once it has seen to the build. */
const PERSIST = ['node_modules/.bin/node', '.build/src/bin/persist-documents.js'] as const;
const NPM_PERSIST = ['npm', 'run', '--silent', 'persist', '--'] as const;

/** Writes files and registers what is in them. */
function persist(
  files: Readonly<Record<string, string>>,
  env: Record<string, string> = {},
  [program, ...args]: readonly [string, ...string[]] = PERSIST,
) {
  const paths = Object.entries(files).map(([name, text]) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  });
  const { status, stdout, stderr } = spawnSync(program, [...args, ...paths], {
    cwd: ROOT,
    encoding: 'utf8',
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      PERSISTED_DOCUMENTS: manifest,
      ...env,
    },
  });
  return { status, stdout, stderr };
}

const registered = (): Record<string, string> => JSON.parse(readFileSync(manifest, 'utf8'));

const PROJECTS = '{ projects(first: 1) { nodes { id name } } }\n';
const LARGE = '{ projects(first: 1000) { nodes { members(first: 100) { nodes { id } } } } }';

const strongroom: Strongroom = useStrongroom({ PERSISTED_DOCUMENTS: manifest, DATA_DIR: folder });

describe('documents that are registered', () => {
  const send = (body: object): Promise<Reply> => strongroom.admin.post('/graphql', body);
  /** A running node looks at the manifest once a second. */
  const sendUntilFound = (body: object): Promise<Reply> =>
    until('the registration to be taken up', 20_000, async () => {
      const reply = await send(body);
      return reply.status === 404 ? undefined : reply;
    });

  test('run by their id on a running node, and no other id does', async () => {
    expect(await send({ documentId: idOf(PROJECTS) })).toBeError(404, 'PERSISTED_DOCUMENT_NOT_FOUND');
    expect(persist({ 'projects.graphql': PROJECTS }, {}, NPM_PERSIST)).toEqual({
      status: 0,
      stdout: `${idOf(PROJECTS)} ${join(folder, 'projects.graphql')}\n`,
      stderr: `Registered in ${manifest}, which services with the same PERSISTED_DOCUMENTS read.\n`,
    });

    const reply = await sendUntilFound({ documentId: idOf(PROJECTS) });
    expect(reply.body).toEqual((await send({ query: PROJECTS })).body);
    expect(reply.body.data.projects.nodes).toEqual([]);
    expect(await send({ documentId: idOf('{ __typename }') })).toBeError(404, 'PERSISTED_DOCUMENT_NOT_FOUND');
  });

  test('have variables and operation names as others do', async () => {
    const text = 'query A($n: Int!) { projects(first: $n) { nodes { id } } } query B { __typename }';
    expect(persist({ 'two.graphql': text }).status).toBe(0);
    const b = await sendUntilFound({ documentId: idOf(text), operationName: 'B' });
    expect(b.body).toEqual({ data: { __typename: 'Query' } });
    expect((await send({ documentId: idOf(text), operationName: 'A', variables: { n: 3 } })).status).toBe(200);
    const wrong = await send({ documentId: idOf(text), operationName: 'A', variables: { n: 'cAnArY' } });
    expect(wrong).toBeError(422, 'VALIDATION_FAILED');
    expect(wrong.text).not.toContain('cAnArY');
  });

  test('may ask for ten times as much, and not for more, whatever their variables say', async () => {
    const page = 'query ($n: Int) { projects(first: $n) { nodes { members(first: $n) { nodes { id } } } } }';
    expect(persist({ 'large.graphql': LARGE, 'page.graphql': page }).status).toBe(0);
    expect((await sendUntilFound({ documentId: idOf(LARGE) })).status).toBe(200);
    const asked = (n: number) =>
      send({ documentId: idOf(page), variables: { n }, extensions: { cost: true } }).then(({ status, body }) => [
        status,
        body.extensions.cost.cost,
      ]);
    expect(await asked(400)).toEqual([200, { asked: 1 + 400 * 402, allowed: 200_000 }]);
    expect(await asked(500)).toEqual([400, { asked: 1 + 500 * 502, allowed: 200_000 }]);
  });

  test('come from the manifests of client tools under their ids, and under the hash of their text', async () => {
    const [first, second] = ['query First { __typename }', 'query Second { __typename }'];
    const apollo = {
      format: 'apollo-persisted-query-manifest',
      version: 1,
      operations: [{ id: idOf(first).slice(7), name: 'First', type: 'query', body: first }],
    };
    const codegen = { b95b6c6cb8a4b3d1ab9d3ddb8d3e4b1d7a2f0c11: second };
    expect(persist({ 'apollo.json': JSON.stringify(apollo), 'codegen.json': JSON.stringify(codegen) }).status).toBe(0);
    const ids = [idOf(first), idOf(first).slice(7), idOf(second), Object.keys(codegen)[0]];
    for (const documentId of ids) {
      expect((await sendUntilFound({ documentId })).body).toEqual({ data: { __typename: 'Query' } });
    }
  });

  test('end when they are taken out of the manifest', async () => {
    const text = '{ gone: __typename }';
    expect(persist({ 'gone.graphql': text }).status).toBe(0);
    expect((await sendUntilFound({ documentId: idOf(text) })).status).toBe(200);
    const { [idOf(text)]: _, ...others } = registered();
    writeFileSync(manifest, JSON.stringify(others));
    await until('the document to be gone', 20_000, async () => (await send({ documentId: idOf(text) })).status === 404);
    expect((await send({ documentId: idOf(PROJECTS) })).status).toBe(200);
  });

  test('go on when the manifest becomes unreadable, which is logged, and one that fits no more is left out', async () => {
    const before = readFileSync(manifest, 'utf8');
    writeFileSync(manifest, '{ "half": ');
    await until('the line about the manifest', 20_000, async () => {
      expect((await send({ documentId: idOf(PROJECTS) })).status).toBe(200);
      return (await strongroom.log()).includes('persisted documents not loaded');
    });
    const misfit = '{ fieldOfYesterday }';
    writeFileSync(manifest, JSON.stringify({ ...JSON.parse(before), [idOf(misfit)]: misfit }));
    await until('the line about the document', 20_000, async () => {
      expect((await send({ documentId: idOf(PROJECTS) })).status).toBe(200);
      return (await strongroom.log()).includes('persisted document skipped');
    });
    expect(await send({ documentId: idOf(misfit) })).toBeError(404, 'PERSISTED_DOCUMENT_NOT_FOUND');
    expect(await strongroom.log()).not.toContain('fieldOfYesterday');
  });

  test.each<[string, object]>([
    ['an id and a text', { documentId: idOf(PROJECTS), query: PROJECTS }],
    ['an id that is no text', { documentId: 5 }],
  ])('are not meant by %s', async (_, body) => expect(await send(body)).toBeError(400, 'MALFORMED_REQUEST'));
});

describe('npm run persist', () => {
  test('tells all faults of all files and registers nothing', () => {
    const before = registered();
    const wrongId = { [`sha256:${'0'.repeat(64)}`]: '{ __typename }' };
    const files = {
      'good.graphql': '{ good: __typename }',
      'fields.graphql': '{ nope project(id: 5.5) { nope } }',
      'syntax.graphql': '{ projects(',
      'complex.graphql': `{ ${Array.from({ length: 301 }, (_, n) => `a${n}: __typename`).join(' ')} }`,
      'ids.json': JSON.stringify(wrongId),
      'none.json': '[]',
    };
    const { status, stderr, stdout } = persist(files, {}, NPM_PERSIST);
    expect([status, stdout]).toEqual([1, '']);
    const lines = stderr.trim().split('\n');
    expect(lines.filter((line) => line.includes('fields.graphql'))).toHaveLength(3);
    for (const [name, word] of [
      ['syntax', 'line 1, column 12'],
      ['complex', 'ALIASES_LIMIT'],
      ['ids', 'is not the hash of its document'],
      ['none', 'must be a JSON object of IDs and documents'],
    ] as const)
      expect(lines.filter((line) => line.includes(name) && line.includes(word))).toHaveLength(1);
    expect(lines.at(-1)).toBe('Nothing was registered.');
    expect(registered()).toEqual(before);
  });

  test('loses nothing when several run at once', async () => {
    const texts = Array.from({ length: 4 }, (_, n) => `{ together${n}: __typename }`);
    const [program, ...args] = PERSIST;
    const runs = texts.map(async (text, n) => {
      const path = join(folder, `together${n}.graphql`);
      writeFileSync(path, text);
      const env = { ...process.env, PERSISTED_DOCUMENTS: manifest };
      return promisify(execFile)(program, [...args, path], { cwd: ROOT, env });
    });
    await Promise.all(runs);
    expect(registered()).toMatchObject(Object.fromEntries(texts.map((text) => [idOf(text), text])));
  });

  test('tells a missing file, a wrong configuration, and how it is used', () => {
    const missing = persist({}, {}, [...PERSIST, join(folder, 'missing.graphql')]);
    expect([missing.status, missing.stderr]).toEqual([1, expect.stringContaining('file not found')]);
    expect(persist({ 'x.graphql': '{ __typename }' }, { PERSISTED_LIMITS_FACTOR: '0' }).status).toBe(78);
    expect(persist({}).status).toBe(2);
  });

  describe('without PERSISTED_DOCUMENTS', () => {
    const unnamed = { PERSISTED_DOCUMENTS: '' };
    const home = join(folder, 'home');
    const dataDir = join(home, 'data');

    test.each([
      ['that is not there', { DATA_DIR: dataDir }, /^strongroom: DATA_DIR has no database; [^\n]+\n$/],
      ['below a file', { DATA_DIR: join(folder, 'x.graphql', 'data') }, /^strongroom: DATA_DIR has no database;/],
      [
        'that is not there, beside a database elsewhere',
        { DATA_DIR: dataDir, DATABASE_URL: 'postgres://db.invalid/x' },
        /^strongroom: DATA_DIR is not a directory; [^\n]+\n$/,
      ],
    ])('refuses a DATA_DIR %s, and makes nothing', (_name, env, line) => {
      const { status, stdout, stderr } = persist({ 'x.graphql': '{ __typename }' }, { ...unnamed, ...env });
      expect({ status, stdout }).toEqual({ status: 78, stdout: '' });
      expect(stderr).toMatch(line);
      expect(existsSync(home)).toBe(false);
    });

    test('registers in the DATA_DIR of a service, and says where', () => {
      const used = mkdtempSync(join(folder, 'used-'));
      mkdirSync(join(used, 'postgres'));
      const { status, stderr } = persist({ 'x.graphql': '{ __typename }' }, { ...unnamed, DATA_DIR: used });
      expect(status).toBe(0);
      expect(stderr).toBe(
        `Registered in ${join(used, 'persisted-documents.json')}, which services with DATA_DIR ${used} read.\n`,
      );
    });
  });

  test('makes no directory when a document has faults', () => {
    const file = join(folder, 'new', 'documents.json');
    const { status } = persist({ 'bad.graphql': '{ nope }' }, { PERSISTED_DOCUMENTS: file });
    expect([status, existsSync(join(folder, 'new'))]).toEqual([1, false]);
    expect(persist({ 'x.graphql': '{ __typename }' }, { PERSISTED_DOCUMENTS: file }).status).toBe(0);
    expect(existsSync(file)).toBe(true);
  });

  test.each([
    ['a directory as the manifest', folder, 'cannot be written: it is a directory'],
    [
      'a manifest below a file',
      join(folder, 'x.graphql', 'documents.json'),
      'is in an unusable directory: it is a file',
    ],
  ])('tells %s in a line', (_name, file, reason) => {
    const { status, stderr } = persist({ 'x.graphql': '{ __typename }' }, { PERSISTED_DOCUMENTS: file });
    expect({ status, stderr }).toEqual({
      status: 78,
      stderr: `strongroom: PERSISTED_DOCUMENTS ${reason}\n`,
    });
  });
});

describe('where only registered documents run', () => {
  const INTROSPECTION = getIntrospectionQuery();
  const documents = { [idOf(PROJECTS)]: PROJECTS, [idOf(INTROSPECTION)]: INTROSPECTION };
  const file = join(folder, 'only.json');
  writeFileSync(file, JSON.stringify(documents));
  let admin: Caller;
  let node: SecondNode;
  beforeAll(async () => {
    node = await strongroom.startSecondNode({ env: { PERSISTED_DOCUMENTS: file, PERSISTED_DOCUMENTS_ONLY: 'true' } });
    admin = strongroom.admin.at(node.url);
  });
  afterAll(() => node.stop());

  test('others are refused with what to do, by id and as a text', async () => {
    const reply = await admin.graphql('{ __typename }');
    expect(reply).toBeError(403, 'PERSISTED_DOCUMENTS_ONLY');
    expect(reply.status).toBe(403);
    expect(reply.text).toMatch(/npm run persist/);
    expect(await admin.graphql('{ __schema { types { name } } }')).toBeError(403, 'PERSISTED_DOCUMENTS_ONLY');
  });

  test('registered ones run by their id, and by their text: an explorer asks for the schema so', async () => {
    for (const body of [{ documentId: idOf(PROJECTS) }, { query: PROJECTS }, { query: INTROSPECTION }]) {
      const { status, body: answer } = await admin.post('/graphql', body);
      expect([status, answer.errors]).toEqual([200, undefined]);
    }
  });

  test('REST goes on', async () => {
    expect((await admin.get('/api/v1/projects')).status).toBe(200);
  });
});

test('a manifest that is none is refused at the start', async () => {
  writeFileSync(join(folder, 'broken.json'), '"x"');
  const env = { PERSISTED_DOCUMENTS: join(folder, 'broken.json'), DATABASE_URL: await freshDatabase() };
  const service = await Service.spawn({ env });
  expect(await service.exit()).toBe(78);
  expect(service.output).toMatch(/^strongroom: PERSISTED_DOCUMENTS names an unusable file: it must be a JSON object/m);
  await service.dispose();
});
