import { mustSucceed } from '../../../kit/caller.js';
import { useSharedStrongroom } from '../../../kit/strongroom.js';

const WEB = Array.from({ length: 19 }, (_, level) => `level-${level}`);

describe('folders on the move', () => {
  const strongroom = useSharedStrongroom();

  async function seeded() {
    const { admin, project } = await strongroom.seed.project();
    const at = { projectId: project.id, environment: 'dev' };
    const make = async (path: string, name: string, environment = 'dev') =>
      mustSucceed(await admin.post('/api/v2/folders', { ...at, environment, path, name })).body.folder;
    const put = async (secretPath: string, key: string, secretValue = 'v', environment = 'dev') =>
      mustSucceed(await admin.post(`/api/v4/secrets/${key}`, { ...at, environment, secretPath, secretValue }));
    const secret = async (secretPath: string, key: string, environment = 'dev') =>
      (
        await admin.get(
          `/api/v4/secrets/${key}?projectId=${project.id}&environment=${environment}&secretPath=${secretPath}`,
        )
      ).body.secret;
    const paths = async (environment = 'dev'): Promise<string[]> =>
      (
        await admin.get(`/api/v2/folders?projectId=${project.id}&environment=${environment}&recursive=true`)
      ).body.folders.map(({ path }: { path: string }) => path);
    const move = (folderId: string, newPath: string, name?: string) =>
      admin.patch(`/api/v2/folders/${folderId}`, { ...at, newPath, ...(name === undefined ? {} : { name }) });
    const batch = (...folders: object[]) =>
      admin.patch('/api/v2/folders/batch', {
        projectId: project.id,
        folders: folders.map((change) => ({ environment: 'dev', ...change })),
      });
    return { admin, project, at, make, put, secret, paths, move, batch };
  }

  test('take everything in them along, keep their ids, and may get a new name on the way', async () => {
    const { make, put, secret, paths, move } = await seeded();
    const app = await make('/', 'app');
    const deep = await make('/app/a_b', 'deep');
    await make('/', 'app2');
    await make('/', 'shop');
    await put('/app/a_b/deep', 'K');
    const moved = await move(app.id, '/shop', 'old');
    expect(moved.body.folder).toMatchObject({ id: app.id, name: 'old', path: '/shop/old', version: 2 });
    expect(await paths()).toEqual(['/app2', '/shop', '/shop/old', '/shop/old/a_b', '/shop/old/a_b/deep']);
    expect(await secret('/shop/old/a_b/deep', 'K')).toMatchObject({ secretValue: 'v', version: 1 });
    expect((await move(deep.id, '/')).body.folder).toMatchObject({ path: '/deep', version: 2 });
    expect(await secret('/deep', 'K')).toMatchObject({ secretPath: '/deep' });
    expect((await move(deep.id, '/')).body.folder).toMatchObject({ path: '/deep' });
  });

  test('never into themselves, where a name is taken, into nothing, or beyond the longest path', async () => {
    const { make, paths, move } = await seeded();
    const app = await make('/', 'app');
    const inner = await make('/app', 'inner');
    await make('/', 'inner');
    const before = await paths();
    for (const into of ['/app', '/app/inner']) {
      const refused = await move(app.id, into);
      expect(refused).toBeError(422, 'VALIDATION_FAILED');
      expect(refused.body.details).toMatchObject([{ path: 'body.newPath', code: 'FOLDER_INTO_ITSELF' }]);
    }
    expect(await move(inner.id, '/')).toBeError(409, 'FOLDER_NAME_TAKEN');
    expect(await move(inner.id, '/', 'app')).toBeError(409, 'FOLDER_NAME_TAKEN');
    const lost = await move(inner.id, '/nowhere');
    expect(lost).toBeError(404, 'FOLDER_NOT_FOUND');
    expect(lost.body.details).toMatchObject([{ path: 'body.newPath' }]);
    expect(await move(inner.id, '/app/../..')).toBeError(422, 'VALIDATION_FAILED');
    const long = 'x'.repeat(249);
    const bottom = await make(`/${Array.from({ length: 7 }, () => long).join('/')}`, 'end');
    const tooLong = await move(app.id, bottom.path, long);
    expect(tooLong).toBeError(422, 'VALIDATION_FAILED');
    expect(tooLong.body.details).toMatchObject([{ path: 'body.newPath', code: 'TOO_BIG' }]);
    expect((await paths()).slice(0, before.length)).toEqual(before);
  });

  test('many at once, also where one takes the place of another or goes below one that is renamed', async () => {
    const { make, put, secret, paths, batch } = await seeded();
    const a = await make('/', 'a');
    const x = await make('/a', 'x');
    const b = await make('/', 'b');
    await make('/b', 'x');
    await put('/a/x', 'K', 'of a');
    await put('/b/x', 'K', 'of b');
    const swapped = await batch({ id: a.id, name: 'b' }, { id: b.id, name: 'a', description: 'was b' });
    expect(swapped.body.folders).toMatchObject([
      { id: a.id, path: '/b', version: 2 },
      { id: b.id, path: '/a', description: 'was b' },
    ]);
    expect([await secret('/b/x', 'K'), await secret('/a/x', 'K')]).toMatchObject([
      { secretValue: 'of a' },
      { secretValue: 'of b' },
    ]);
    await batch({ id: a.id, path: '/', name: 'c' }, { id: x.id, path: '/b', newPath: '/a', name: 'y' });
    expect(await paths()).toEqual(['/a', '/a/x', '/a/y', '/c']);
    expect(await secret('/a/y', 'K')).toMatchObject({ secretValue: 'of a' });
  });

  test('many at once or none, and every fault is named', async () => {
    const { make, paths, batch } = await seeded();
    const [a, b, c] = [await make('/', 'a'), await make('/', 'b'), await make('/a', 'c')];
    const before = await paths();
    const unknown = await batch(
      { id: a.id, name: 'z' },
      { id: 'nope', name: 'y' },
      { id: c.id, path: '/b', name: 'x' },
      { id: b.id, environment: 'prod', name: 'w' },
    );
    expect(unknown).toBeError(404, 'FOLDER_NOT_FOUND');
    expect(unknown.body.details.map(({ path }: { path: string }) => path)).toEqual([
      'body.folders[1]',
      'body.folders[2]',
      'body.folders[3]',
    ]);
    const circle = await batch({ id: a.id, newPath: '/b' }, { id: b.id, newPath: '/a' });
    expect(circle).toBeError(422, 'VALIDATION_FAILED');
    expect(circle.body.details.map(({ path, code }: Record<string, string>) => [path, code])).toEqual([
      ['body.folders[0].newPath', 'FOLDER_INTO_ITSELF'],
      ['body.folders[1].newPath', 'FOLDER_INTO_ITSELF'],
    ]);
    const twice = await batch({ id: a.id, name: 'z' }, { id: a.id.toUpperCase(), name: 'y' });
    expect(twice.body.details).toMatchObject([{ path: 'body.folders[1]', code: 'DUPLICATE' }]);
    expect(await batch({ id: a.id, name: 'z' }, { id: b.id, name: 'z' })).toBeError(409, 'FOLDER_NAME_TAKEN');
    expect(await batch()).toBeError(422, 'VALIDATION_FAILED');
    expect(await batch({ id: a.id, name: 'z', environment: 'nope' })).toBeError(404, 'ENVIRONMENT_NOT_FOUND');
    expect(await paths()).toEqual(before);
  });

  test('in several environments of one batch, each in its own', async () => {
    const { make, paths, batch } = await seeded();
    const [here, there] = [await make('/', 'a'), await make('/', 'a', 'prod')];
    await make('/', 'b', 'prod');
    const moved = await batch({ id: here.id, name: 'c' }, { id: there.id, environment: 'prod', newPath: '/b' });
    expect(moved.status).toBe(200);
    expect([await paths(), await paths('prod')]).toEqual([['/c'], ['/b', '/b/a']]);
  });

  test('are followed by references: those that name the place, not those beside the secret', async () => {
    const { admin, project, make, put, secret, move, batch } = await seeded();
    const app = await make('/', 'app');
    await make('/app', 'db');
    await make('/', 'shop');
    await put('/app/db', 'BASE', 'base');
    await put('/app/db', 'BESIDE', `<\${BASE}>`);
    await put('/app/db', 'a.b', 'no reference can name it');
    await put('/', 'URL', `\${dev.app.db.BASE}/\${dev.shop.BASE}/\${BASE}`, 'prod');
    await move(app.id, '/shop');
    expect(await secret('/', 'URL', 'prod')).toMatchObject({
      secretValue: `\${dev.shop.app.db.BASE}/\${dev.shop.BASE}/\${BASE}`,
      version: 2,
    });
    expect(await secret('/shop/app/db', 'BESIDE')).toMatchObject({ secretValue: `<\${BASE}>`, version: 1 });
    const other = await make('/shop/app', 'cache');
    await put('/shop/app/cache', 'BASE', 'cached');
    await put('/shop/app/cache', 'BESIDE', `<\${BASE}>`);
    const [db] = (
      await admin.get(`/api/v2/folders?projectId=${project.id}&environment=dev&path=/shop/app`)
    ).body.folders.filter(({ name }: { name: string }) => name === 'db');
    await batch({ id: db.id, name: 'cache' }, { id: other.id, name: 'db' });
    expect(await secret('/', 'URL', 'prod')).toMatchObject({
      secretValue: `\${dev.shop.app.cache.BASE}/\${dev.shop.BASE}/\${BASE}`,
      version: 3,
    });
    for (const path of ['/shop/app/db', '/shop/app/cache']) {
      expect(await secret(path, 'BESIDE')).toMatchObject({ secretValue: `<\${BASE}>`, version: 1 });
    }
    const rows = await strongroom.sql(
      `select v.version, v.actor_kind from secret_version v join secret s on s.id = v.secret_id where s.key = 'URL' and s.project_id = $1 order by v.version`,
      [project.id],
    );
    expect(rows.map(({ actor_kind }) => actor_kind)).toEqual(['identity', 'system', 'system']);
  });

  test('and so are environments that get another slug', async () => {
    const { admin, project, make, put, secret } = await seeded();
    await make('/', 'app');
    await put('/app', 'BASE');
    await put('/', 'ROOT');
    await put('/', 'URL', `\${dev.app.BASE}\${dev.ROOT}\${prod.ROOT}\${ROOT}`, 'prod');
    const [dev] = project.environments;
    const path = `/api/v1/projects/${project.id}/environments/${dev.id}`;
    expect((await admin.patch(path, { slug: 'development', name: 'D' })).status).toBe(200);
    expect(await secret('/', 'URL', 'prod')).toMatchObject({
      secretValue: `\${development.app.BASE}\${development.ROOT}\${prod.ROOT}\${ROOT}`,
      version: 2,
    });
    expect(await admin.patch(path, { slug: 'prod' })).toBeError(409, 'ENVIRONMENT_SLUG_TAKEN');
    expect(await secret('/', 'URL', 'prod')).toMatchObject({ version: 2 });
  });

  test('by as many statements for 500 of them, 20 deep, as for two', async () => {
    const { make, put, paths, move } = await seeded();
    await make('/', 'target');
    const small = await make('/', 'small');
    await make('/small', 'inner');
    await put('/small/inner', 'K');
    await put('/', 'URL', `\${dev.small.inner.K}`);
    const few = await strongroom.statements(() => move(small.id, '/target'));
    const large = await make('/', 'large');
    for (let chain = 0; chain < 26; chain += 1) {
      const parent = `/large/chain-${chain}/${WEB.slice(0, -1).join('/')}`;
      await make(parent, WEB.at(-1) as string);
      await put(parent, 'K');
      await put('/', `URL_${chain}`, `\${dev.large.chain-${chain}.${WEB.slice(0, -1).join('.')}.K}`);
    }
    const many = await strongroom.statements(() => move(large.id, '/target'));
    expect([few.result.status, many.result.status]).toEqual([200, 200]);
    expect((await paths()).filter((path) => path.startsWith('/target/large/'))).toHaveLength(26 * 20);
    expect(many.count).toBe(few.count);
    expect(many.count).toBeLessThanOrEqual(22);
  });

  test('only by members who may; a stranger finds nothing', async () => {
    const { admin, project, at, make, move } = await seeded();
    const [a] = [await make('/', 'a'), await make('/', 'b')];
    const viewer = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['viewer'] });
    const { admin: foreign } = await strongroom.seed.project();
    const change = { ...at, newPath: '/b' };
    expect(await viewer.patch(`/api/v2/folders/${a.id}`, change)).toBeError(403, 'PERMISSION_DENIED');
    expect(await foreign.patch(`/api/v2/folders/${a.id}`, change)).toBeError(404, 'PROJECT_NOT_FOUND');
    expect((await move(a.id, '/b')).status).toBe(200);
    const root = await strongroom.sql(
      `select f.id from folder f where f.project_id = $1 and f.environment_id = $2 and f.path = '/'`,
      [project.id, project.environments[0].id],
    );
    expect(await move(String(root[0]?.id), '/b')).toBeError(422, 'VALIDATION_FAILED');
  });
});
