import { useSharedStrongroom } from '../../../kit/strongroom.js';
import { importsOf, linesOf, Tree } from '../tree.js';

const MIB = 1024 * 1024;
const EXPAND = { expandSecretReferences: true };

describe('references in lists of secrets', () => {
  const strongroom = useSharedStrongroom();

  const plant = () => Tree.plant(strongroom);
  const valuesOf = (reply: Parameters<typeof linesOf>[0]) =>
    Object.fromEntries(linesOf(reply).map(([, key, value]) => [key, value]));

  /** Values and issues of dev, `/` unless it is said otherwise, as GraphQL has them. */
  async function issuesOf(tree: Tree, caller = tree.admin): Promise<Record<string, string[]>> {
    const { secrets } = await caller.data(
      `query ($p: ID!) { secrets(projectId: $p, environment: "dev", expandSecretReferences: true) {
        unresolvedReferences nodes { secretKey referenceIssues { reference reason } } } }`,
      { p: tree.project.id },
    );
    const issues = secrets.nodes.map(
      ({
        secretKey,
        referenceIssues,
      }: {
        secretKey: string;
        referenceIssues: { reference: string; reason: string }[];
      }) => [secretKey, referenceIssues.map(({ reference, reason }) => `${reference} ${reason}`)] as const,
    );
    expect(secrets.unresolvedReferences).toBe(issues.flatMap(([, found]: [string, string[]]) => found).length);
    return Object.fromEntries(issues);
  }

  test('are expanded when asked for, across environments, and stay where nothing is found', async () => {
    const tree = await plant();
    await tree.folder('/db', 'prod');
    await tree.put('/db', { PASS: 's3' }, 'prod');
    await tree.put('/', {
      A: '${B}-x',
      B: '${prod.db.PASS}',
      C: '${C}',
      D: '${MISSING}',
      E: 'a${A}b${A}',
      PLAIN: '$x{',
    });
    const reply = await tree.list(EXPAND);
    expect(valuesOf(reply)).toEqual({ A: 's3-x', B: 's3', C: '${C}', D: '${MISSING}', E: 'as3-xbs3-x', PLAIN: '$x{' });
    expect(reply.headers['x-unresolved-references']).toBe('2');
    expect(await issuesOf(tree)).toEqual({
      A: [],
      B: [],
      C: ['${C} CYCLIC'],
      D: ['${MISSING} MISSING'],
      E: [],
      PLAIN: [],
    });
    const raw = await tree.list();
    expect(valuesOf(raw)).toMatchObject({ A: '${B}-x', B: '${prod.db.PASS}' });
    expect(raw.headers['x-unresolved-references']).toBeUndefined();
    expect(valuesOf(await tree.list({ ...EXPAND, viewSecretValue: false }))).toMatchObject({ A: '<hidden>' });
  });

  test('that are written with $$ are text, and stay so when what they name is renamed', async () => {
    const tree = await plant();
    await tree.put('/', { A: 'a', TEXT: '$${A}', BOTH: '$${A}=${A}' });
    expect(valuesOf(await tree.list(EXPAND))).toEqual({ A: 'a', TEXT: '${A}', BOTH: '${A}=a' });
    expect(valuesOf(await tree.list())).toMatchObject({ TEXT: '$${A}', BOTH: '$${A}=${A}' });
    expect(await issuesOf(tree)).toEqual({ A: [], TEXT: [], BOTH: [] });
    const place = { projectId: tree.project.id, environment: 'dev', secretPath: '/' };
    await tree.admin.patch('/api/v4/secrets/A', { ...place, newSecretName: 'B' });
    expect(valuesOf(await tree.list())).toEqual({ B: 'a', TEXT: '$${A}', BOTH: '$${A}=${B}' });
  });

  test('to what the folder only imports stay, and say why', async () => {
    const tree = await plant();
    for (const path of ['/from', '/deep']) await tree.folder(path);
    await tree.link('/from', ['/deep']);
    await tree.link('/', ['/from']);
    await tree.put('/from', { SHARED: 's' });
    await tree.put('/deep', { DEEP: 'd' });
    await tree.put('/', { A: '${SHARED}${DEEP}${NONE}', B: '${dev.from.SHARED}' });
    const imported = ['${SHARED} IMPORTED', '${DEEP} IMPORTED', '${NONE} MISSING'];
    expect(await issuesOf(tree)).toEqual({ A: imported, B: [] });
    // Whoever may not see the imported secret learns nothing of it.
    const limited = await tree.reader([
      { subject: 'secrets', action: ['describeSecret', 'readValue'], conditions: { secretPath: '/' } },
    ]);
    expect((await issuesOf(tree, limited)).A).toEqual(imported.map((issue) => issue.replace('IMPORTED', 'MISSING')));
  });

  test('follow what they lead to through folders that are not listed', async () => {
    const tree = await plant();
    for (const path of ['/one', '/two', '/two/three']) await tree.folder(path);
    await tree.put('/', { START: '[${dev.one.NEXT}]' });
    await tree.put('/one', { NEXT: '${HERE}+${dev.two.three.FAR}', HERE: 'here' });
    await tree.put('/two/three', { FAR: '${dev.START}', HERE: 'not this one' });
    expect(valuesOf(await tree.list(EXPAND))).toEqual({ START: '[${dev.one.NEXT}]' });
    expect(await issuesOf(tree)).toEqual({ START: ['${dev.one.NEXT} CYCLIC'] });
    await tree.admin.patch('/api/v4/secrets/FAR', {
      projectId: tree.project.id,
      environment: 'dev',
      secretPath: '/two/three',
      secretValue: '${staging.NONE}',
    });
    expect(valuesOf(await tree.list(EXPAND))).toEqual({ START: '[here+${staging.NONE}]' });
    expect(await issuesOf(tree)).toEqual({ START: ['${staging.NONE} MISSING'] });
  });

  test('of a cycle give the same whatever is listed', async () => {
    const tree = await plant();
    await tree.folder('/ring');
    await tree.put('/ring', { A: 'a${B}', B: 'b${C}', C: 'c${A}', OUT: '<${A}>' });
    const whole = valuesOf(await tree.list({ ...EXPAND, secretPath: '/ring' }));
    expect(whole).toEqual({ A: 'a${B}', B: 'b${C}', C: 'c${A}', OUT: '<a${B}>' });
    for (const [key, value] of Object.entries(whole)) {
      const reply = await tree.get(key, { ...EXPAND, secretPath: '/ring' });
      expect(reply.body.secret.secretValue).toBe(value);
      expect(reply.headers['x-unresolved-references']).toBe('1');
    }
  });

  test('of filtered and paged lists reach what is not listed', async () => {
    const tree = await plant();
    const { admin, project } = tree;
    const at = { projectId: project.id, environment: 'dev' };
    const { tag } = (await admin.post(`/api/v1/projects/${project.id}/tags`, { slug: 'a', color: '#00aa00' })).body;
    await tree.put('/', { X: 'x${Y}', Y: 'y${Z}', Z: 'z' });
    await admin.patch('/api/v4/secrets/X', { ...at, tagIds: [tag.id] });
    expect(valuesOf(await tree.list({ ...EXPAND, tagSlugs: 'a' }))).toEqual({ X: 'xyz' });
    expect(valuesOf(await tree.list({ ...EXPAND, limit: 1 }))).toEqual({ X: 'xyz' });
  });

  test('of imported secrets are expanded as those of own ones, in their own place', async () => {
    const tree = await plant();
    for (const path of ['/app', '/shared']) await tree.folder(path);
    await tree.link('/app', ['/shared']);
    await tree.put('/app', { HOST: 'app', OWN: '${HOST}', NO_FALLBACK: '${URL}' });
    await tree.put('/shared', { HOST: 'shared', URL: 'https://${HOST}/' });
    const at = { secretPath: '/app', include_imports: true };
    const expanded = await tree.list({ ...at, ...EXPAND });
    expect(importsOf(expanded)).toEqual([['dev:/shared', { HOST: 'shared', URL: 'https://shared/' }]]);
    expect(valuesOf(expanded)).toMatchObject({ OWN: 'app', NO_FALLBACK: '${URL}' });
    expect(importsOf(await tree.list(at))).toEqual([['dev:/shared', { HOST: 'shared', URL: 'https://${HOST}/' }]]);
    const single = await tree.get('URL', { ...at, ...EXPAND });
    expect(single.body.secret.secretValue).toBe('https://shared/');
  });

  test('to a value that does not open stay, and the rest is expanded', async () => {
    const tree = await plant();
    await tree.folder('/other');
    await tree.put('/other', { BROKEN: 'b' });
    await tree.put('/', { A: '${dev.other.BROKEN}-${GOOD}', GOOD: 'g', HERE: 'h', USES_HERE: '${HERE}' });
    await strongroom.sql(
      `update secret set value_sealed = set_byte(value_sealed, 40, (get_byte(value_sealed, 40) + 1) % 256)
       where project_id = $1 and key in ('BROKEN', 'HERE')`,
      [tree.project.id],
    );
    await tree.touch();
    const reply = await tree.list(EXPAND);
    expect(valuesOf(reply)).toEqual({
      A: '${dev.other.BROKEN}-g',
      GOOD: 'g',
      HERE: '<hidden>',
      USES_HERE: '${HERE}',
    });
    expect(reply.headers['x-unreadable-values']).toBe('1');
    expect(await issuesOf(tree)).toMatchObject({
      A: ['${dev.other.BROKEN} UNREADABLE'],
      USES_HERE: ['${HERE} UNREADABLE'],
    });
  });

  test('of one secret are expanded by key and by id', async () => {
    const tree = await plant();
    await tree.put('/', { A: '${staging.B}', GONE: '${NONE}' });
    await tree.put('/', { B: 'b' }, 'staging');
    const reply = await tree.get('A', EXPAND);
    expect(reply.body.secret.secretValue).toBe('b');
    expect(reply.headers['x-unresolved-references']).toBeUndefined();
    const byId = `/api/v4/secrets/id/${reply.body.secret.id}`;
    expect((await tree.admin.get(`${byId}?expandSecretReferences=true`)).body.secret.secretValue).toBe('b');
    expect((await tree.admin.get(byId)).body.secret.secretValue).toBe('${staging.B}');
    expect((await tree.get('GONE', EXPAND)).headers['x-unresolved-references']).toBe('1');
    expect(reply.body.secret.referenceIssues).toBeUndefined();
  });

  test('inside of environments take one statement more, however many there are', async () => {
    const tree = await plant();
    const document = `{ projects { nodes { environments { slug
      secrets(recursive: true, expandSecretReferences: true) { nodes { secretKey secretValue } } } } } }`;
    const plain = document.replace('true, expandSecretReferences: ', '');
    for (const environment of ['dev', 'prod']) {
      await tree.folder('/app', environment);
      await tree.put('/app', { A: `\${staging.${environment}}`, B: '<${A}>' }, environment);
    }
    await tree.put('/', { dev: 'for dev ${prod.app.A}', prod: 'for prod' }, 'staging');
    await tree.admin.data(document);
    const without = await strongroom.statements(() => tree.admin.data(plain));
    const { result, count } = await strongroom.statements(() => tree.admin.data(document));
    const [dev, staging, prod] = result.projects.nodes[0].environments;
    expect(dev.secrets.nodes.map(({ secretValue }: { secretValue: string }) => secretValue)).toEqual([
      'for dev for prod',
      '<for dev for prod>',
    ]);
    expect(staging.secrets.nodes[0]).toEqual({ secretKey: 'dev', secretValue: 'for dev for prod' });
    expect(prod.secrets.nodes[1]).toEqual({ secretKey: 'B', secretValue: '<for prod>' });
    expect(count).toBe(without.count + 1);
  });
});

describe('large webs of references', () => {
  const strongroom = useSharedStrongroom();

  /** Puts values in batches: requests are at most 1 MiB. */
  async function planted(values: [string, string][], path = '/web'): Promise<Tree> {
    const tree = await Tree.plant(strongroom);
    await tree.folder(path);
    for (let at = 0; at < values.length; at += 500)
      await tree.put(path, Object.fromEntries(values.slice(at, at + 500)));
    return tree;
  }
  const named = (count: number, text: (index: number) => string): [string, string][] =>
    Array.from({ length: count }, (_, index) => [`K${index}`, text(index)]);

  test('a chain of 1,000 is read from its head in a constant number of statements', async () => {
    const tree = await planted(named(1_000, (at) => (at === 999 ? 'end' : `\${K${at + 1}}`)));
    const at = { ...EXPAND, secretPath: '/web' };
    const { result, count } = await strongroom.statements(() => tree.get('K0', at));
    expect(result.body.secret.secretValue).toBe('end');
    expect(count).toBeLessThanOrEqual(8);
    const list = await strongroom.statements(() => tree.list(at));
    expect(new Set(linesOf(list.result).map(([, , value]) => value))).toEqual(new Set(['end']));
    // All targets are in the list: nothing more is asked for than without references.
    expect(list.count).toBeLessThanOrEqual(6);
  });

  test('a web of 1,000 secrets that each name ten others is read from another folder', async () => {
    const tree = await planted(
      named(1_000, (at) =>
        at >= 990 ? 'x' : Array.from({ length: 10 }, (_, n) => `\${K${Math.min(at * 2 + n + 1, 999)}}`).join(''),
      ),
    );
    await tree.put('/', { HEAD: '${dev.web.K400}' });
    const { result, count } = await strongroom.statements(() => tree.list(EXPAND));
    expect(linesOf(result)[0]?.[2]).toMatch(/^x+$/);
    expect(count).toBeLessThanOrEqual(8);
  });

  test('a bomb of 40 levels ends within the output limit', async () => {
    const tree = await planted(named(41, (at) => (at === 0 ? 'x' : `\${K${at - 1}}\${K${at - 1}}`)));
    const last = await tree.get('K40', { ...EXPAND, secretPath: '/web' });
    expect(last.body.secret.secretValue.length).toBeLessThanOrEqual(MIB);
    expect(last.headers['x-unresolved-references']).toBe('1');
    expect((await tree.get('K20', { ...EXPAND, secretPath: '/web' })).body.secret.secretValue).toBe('x'.repeat(MIB));
    const whole = await tree.list({ ...EXPAND, secretPath: '/web' });
    for (const [, , value] of linesOf(whole)) expect(value.length).toBeLessThanOrEqual(MIB);
  });

  test('values that each expand to nearly 1 MiB are refused where they are too much together, and had in pages', async () => {
    const tree = await planted([['BIG', 'x'.repeat(MIB / 2)], ...named(100, () => '${BIG}${BIG}')]);
    const { patient } = tree.admin;
    expect(await tree.list({ ...EXPAND, secretPath: '/web' }, patient)).toBeError(413, 'ANSWER_TOO_LARGE');
    const lengths = linesOf(await tree.list({ ...EXPAND, secretPath: '/web', limit: 20 }, patient)).map(
      ([, , value]) => value.length,
    );
    expect(lengths).toEqual([MIB / 2, ...Array(19).fill(MIB)]);
  });
});
