import { mustSucceed } from '../../../kit/caller.js';
import { useSharedStrongroom } from '../../../kit/strongroom.js';
import { importsOf, linesOf, Tree } from '../tree.js';

const READ = ['describeSecret', 'readValue'];
const allow = (action: string | readonly string[], conditions?: object) => ({
  subject: 'secrets',
  action,
  ...(conditions === undefined ? {} : { conditions }),
});
const deny = (action: string | readonly string[], conditions: object) => ({
  ...allow(action, conditions),
  inverted: true,
});

describe('what a caller may read, in lists', () => {
  const strongroom = useSharedStrongroom();

  test('recursive ones have the rows that its rules let it see, and page through them', async () => {
    const tree = await Tree.plant(strongroom);
    for (const path of ['/a', '/a/b', '/c']) {
      await tree.folder(path);
      await tree.put(path, { K1: path, K2: path, HIDDEN: path });
    }
    const reader = await tree.reader([
      allow(READ, { secretPath: { $in: ['/a/b', '/c'] } }),
      deny(READ, { secretName: 'HIDDEN' }),
    ]);
    const whole = linesOf(await tree.list({ recursive: true }, reader));
    expect(whole.map(([path, key]) => `${path} ${key}`)).toEqual(['/a/b K1', '/a/b K2', '/c K1', '/c K2']);
    const paged = [];
    let cursor: string | undefined;
    do {
      const page = await tree.list({ recursive: true, limit: 1, cursor }, reader);
      expect(linesOf(page)).toHaveLength(1);
      paged.push(...linesOf(page));
      cursor = page.body.nextCursor;
    } while (cursor !== undefined);
    expect(paged).toEqual(whole);
  });

  test('imports show what it may see in their sources, and are there when that is nothing', async () => {
    const tree = await Tree.plant(strongroom);
    for (const path of ['/app', '/open', '/closed', '/named']) await tree.folder(path);
    await tree.put('/open', { A: 'open', TOP: 'top' });
    await tree.put('/closed', { B: 'closed' });
    await tree.put('/named', { C: 'named' });
    await tree.link('/app', ['/open', '/closed', '/named']);
    const reader = await tree.reader([
      allow(READ, { secretPath: { $in: ['/app', '/open'] } }),
      allow('describeSecret', { secretPath: '/named' }),
      deny('readValue', { secretName: 'TOP' }),
    ]);
    const reply = await tree.list({ secretPath: '/app', include_imports: true }, reader);
    expect(importsOf(reply)).toEqual([
      ['dev:/open', { A: 'open', TOP: '<hidden>' }],
      ['dev:/closed', {}],
      ['dev:/named', { C: '<hidden>' }],
    ]);
    expect(reply.body.imports[2].secrets[0]).toMatchObject({ secretValueHidden: true });
  });

  test('one key falls back to what it may know of, past what it may not', async () => {
    const tree = await Tree.plant(strongroom);
    for (const path of ['/app', '/first', '/last']) await tree.folder(path);
    for (const path of ['/app', '/first', '/last']) await tree.put(path, { KEY: path });
    await tree.link('/app', ['/first', '/last']);
    const reader = await tree.reader([allow(READ, { secretPath: '/first' })]);
    const found = await tree.get('KEY', { secretPath: '/app', include_imports: true }, reader);
    expect(mustSucceed(found).body.secret).toMatchObject({ secretPath: '/first', secretValue: '/first' });
    expect(await tree.get('KEY', { secretPath: '/app' }, reader)).toBeError(404, 'SECRET_NOT_FOUND');
    const stranger = await tree.reader([allow(READ, { secretPath: '/elsewhere' })]);
    expect(await tree.get('KEY', { secretPath: '/app', include_imports: true }, stranger)).toBeError(
      404,
      'SECRET_NOT_FOUND',
    );
  });

  test('references to what it may not read stay, and are told by why', async () => {
    const tree = await Tree.plant(strongroom);
    await tree.folder('/db', 'prod');
    await tree.put('/db', { PASS: 's3', USER: 'root', VIA: 'via ${PASS}', FREE: 'free' }, 'prod');
    await tree.put('/', { A: '${prod.db.PASS}', B: '${A}-${prod.db.USER}', C: '${prod.db.VIA}', D: '${prod.db.FREE}' });
    await tree.put('/', { LOCKED: 'l', E: '${LOCKED}' });
    const reader = await tree.reader([
      allow(READ),
      deny(READ, { environment: 'prod', secretName: 'PASS' }),
      deny('readValue', { environment: 'prod', secretName: 'USER' }),
      deny('readValue', { secretName: 'LOCKED' }),
    ]);
    const { secrets } = await reader.data(
      `query ($p: ID!) { secrets(projectId: $p, environment: "dev", expandSecretReferences: true) {
        nodes { secretKey secretValue referenceIssues { reference reason } } } }`,
      { p: tree.project.id },
    );
    const missing = { reference: '${prod.db.PASS}', reason: 'MISSING' };
    expect(secrets.nodes).toEqual([
      { secretKey: 'A', secretValue: '${prod.db.PASS}', referenceIssues: [missing] },
      {
        secretKey: 'B',
        secretValue: '${prod.db.PASS}-${prod.db.USER}',
        referenceIssues: [missing, { reference: '${prod.db.USER}', reason: 'FORBIDDEN' }],
      },
      {
        secretKey: 'C',
        secretValue: 'via ${PASS}',
        referenceIssues: [{ reference: '${PASS}', reason: 'MISSING' }],
      },
      { secretKey: 'D', secretValue: 'free', referenceIssues: [] },
      {
        secretKey: 'E',
        secretValue: '${LOCKED}',
        referenceIssues: [{ reference: '${LOCKED}', reason: 'FORBIDDEN' }],
      },
      { secretKey: 'LOCKED', secretValue: null, referenceIssues: [] },
    ]);
    const reply = await tree.list({ expandSecretReferences: true }, reader);
    expect(reply.status).toBe(200);
    expect(reply.headers['x-unresolved-references']).toBe('5');
    // Who may read it all gets it all.
    expect(linesOf(await tree.list({ expandSecretReferences: true }))[1]).toEqual(['/', 'B', 's3-root']);
  });

  test('references to secrets of tags that it may not read stay', async () => {
    const tree = await Tree.plant(strongroom);
    const { admin, project } = tree;
    const { tag } = (await admin.post(`/api/v1/projects/${project.id}/tags`, { slug: 'hot', color: '#aa0000' })).body;
    await tree.folder('/hot');
    const hot = { projectId: project.id, environment: 'dev', secretPath: '/hot', tagIds: [tag.id] };
    mustSucceed(await admin.post('/api/v4/secrets/PASS', { ...hot, secretValue: 'burns' }));
    await tree.put('/', { A: '${dev.hot.PASS}' });
    const reader = await tree.reader([allow(READ), deny('readValue', { secretTags: { $in: ['hot'] } })]);
    expect(linesOf(await tree.list({ expandSecretReferences: true }, reader))).toEqual([['/', 'A', '${dev.hot.PASS}']]);
    expect(linesOf(await tree.list({ expandSecretReferences: true }))).toEqual([['/', 'A', 'burns']]);
  });

  test('own values are for their owner also where it may not read the shared ones', async () => {
    const tree = await Tree.plant(strongroom);
    await tree.put('/', { A: 'shared' });
    const user = await tree.reader([allow('describeSecret')], 'user');
    const own = { projectId: tree.project.id, environment: 'dev', type: 'personal', secretValue: 'mine' };
    mustSucceed(await user.post('/api/v4/secrets/A', own));
    expect(linesOf(await tree.list({}, user))).toEqual([
      ['/', 'A', '<hidden>'],
      ['/', 'A', 'mine'],
    ]);
  });
});
