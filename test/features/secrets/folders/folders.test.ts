import { useSharedStrongroom } from '../../../kit/strongroom.js';

describe('folders', () => {
  const strongroom = useSharedStrongroom();

  async function seeded() {
    const { admin, project } = await strongroom.seed.project();
    const at = { projectId: project.id, environment: 'dev' };
    const make = async (path: string, name: string, as = admin) => as.post('/api/v2/folders', { ...at, path, name });
    const names = async (path = '/') =>
      (await admin.get(`/api/v2/folders?projectId=${project.id}&environment=dev&path=${path}`)).body.folders.map(
        (folder: { name: string }) => folder.name,
      );
    return { admin, project, at, make, names };
  }

  test('are made with what is missing above them, and one that exists is answered as it is', async () => {
    const { admin, project, make, names } = await seeded();
    const made = await make('/a/b/', 'c');
    expect(made.body.folder).toMatchObject({
      name: 'c',
      path: '/a/b/c',
      environment: 'dev',
      projectId: project.id,
      version: 1,
      description: null,
    });
    expect((await make('/a/b', 'c')).body).toEqual(made.body);
    expect([await names(), await names('/a'), await names('/a/b'), await names('/a/b/c')]).toEqual([
      ['a'],
      ['b'],
      ['c'],
      [],
    ]);
    const { id, envId } = made.body.folder;
    expect((await admin.get(`/api/v2/folders/${id}`)).body.folder).toEqual({
      ...made.body.folder,
      environment: { envId, envName: 'Development', envSlug: 'dev' },
    });
    const many = await Promise.all(Array.from({ length: 8 }, () => make('/x/y', 'z', admin.patient)));
    expect(new Set(many.map(({ body }) => body.folder.id)).size).toBe(1);
  });

  test('are listed by name, by code points, in pages if wanted', async () => {
    const { admin, at, make, names } = await seeded();
    for (const name of ['b', 'A', 'a', '_', 'B-1']) await make('/', name);
    expect(await names()).toEqual(['A', 'B-1', '_', 'a', 'b']);
    const query = `/api/v2/folders?projectId=${at.projectId}&environment=dev&limit=3`;
    const first = await admin.get(query);
    const second = await admin.get(`${query}&cursor=${first.body.nextCursor}`);
    expect(second.body.folders.map(({ name }: { name: string }) => name)).toEqual(['a', 'b']);
    expect(second.body.nextCursor).toBeUndefined();
  });

  test('take all below them along when renamed, and no neighbour whose name begins the same', async () => {
    const { admin, at, make, names } = await seeded();
    const { folder } = (await make('/', 'app')).body;
    await make('/app/a_b', 'deep');
    await make('/', 'app2');
    await admin.post('/api/v4/secrets/K', { ...at, secretPath: '/app/a_b/deep', secretValue: 'v' });
    const renamed = await admin.patch(`/api/v2/folders/${folder.id}`, {
      ...at,
      name: 'shop',
      path: '/',
      description: 'of the shop',
    });
    expect(renamed.body.folder).toMatchObject({ name: 'shop', path: '/shop', version: 2, description: 'of the shop' });
    expect(await names()).toEqual(['app2', 'shop']);
    const moved = await admin.get(
      `/api/v4/secrets?projectId=${at.projectId}&environment=dev&secretPath=/shop/a_b/deep`,
    );
    expect(moved.body.secrets[0]).toMatchObject({ secretValue: 'v', secretPath: '/shop/a_b/deep', version: 1 });
    expect(await admin.patch(`/api/v2/folders/${folder.id}`, { ...at, name: 'app2' })).toBeError(
      409,
      'FOLDER_NAME_TAKEN',
    );
    expect(await admin.patch(`/api/v2/folders/${folder.id}`, { ...at, name: 'x', path: '/elsewhere' })).toBeError(
      404,
      'FOLDER_NOT_FOUND',
    );
    expect(await admin.patch(`/api/v2/folders/${folder.id}`, { ...at, name: 'a.b' })).toBeError(
      422,
      'VALIDATION_FAILED',
    );
  });

  test('are deleted when empty, by id or by name, and with what is in them only by force', async () => {
    const { admin, at, make, names } = await seeded();
    const { folder } = (await make('/', 'full')).body;
    await make('/', 'empty');
    await admin.post('/api/v4/secrets/K', { ...at, secretPath: '/full' });
    expect((await admin.delete('/api/v2/folders/empty', at)).status).toBe(200);
    expect(await admin.delete('/api/v2/folders/empty', at)).toBeError(404, 'FOLDER_NOT_FOUND');
    expect(await admin.delete(`/api/v2/folders/${folder.id}`, at)).toBeError(409, 'FOLDER_NOT_EMPTY');
    expect((await admin.delete(`/api/v2/folders/${folder.id}`, { ...at, forceDelete: true })).body.folder.path).toBe(
      '/full',
    );
    expect(await names()).toEqual([]);
    expect(await strongroom.sql('select 1 from secret where folder_id = $1', [folder.id])).toEqual([]);
  });

  test('include the root folder, which can be neither renamed nor deleted', async () => {
    const { admin, project, at } = await seeded();
    const [root] = await strongroom.sql(`select id, name from folder where environment_id = $1 and path = '/'`, [
      project.environments[0].id,
    ]);
    expect(root?.name).toBe('root');
    expect(await admin.patch(`/api/v2/folders/${root?.id}`, { ...at, name: 'x' })).toBeError(422, 'VALIDATION_FAILED');
    expect(await admin.delete(`/api/v2/folders/${root?.id}`, { ...at, forceDelete: true })).toBeError(
      422,
      'VALIDATION_FAILED',
    );
  });

  test('are for members who may: a viewer reads, a caller without rights gets 403, a stranger 404', async () => {
    const { admin, project, at, make } = await seeded();
    const { folder } = (await make('/', 'a')).body;
    const viewer = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['viewer'] });
    const nobody = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['no-access'] });
    const { admin: foreign } = await strongroom.seed.project();
    expect((await viewer.get(`/api/v2/folders/${folder.id}`)).status).toBe(200);
    expect(await viewer.post('/api/v2/folders', { ...at, name: 'b' })).toBeError(403, 'PERMISSION_DENIED');
    expect(await viewer.delete('/api/v2/folders/a', at)).toBeError(403, 'PERMISSION_DENIED');
    expect(await nobody.get(`/api/v2/folders/${folder.id}`)).toBeError(403, 'PERMISSION_DENIED');
    expect(await foreign.get(`/api/v2/folders/${folder.id}`)).toBeError(404, 'FOLDER_NOT_FOUND');
    expect(await foreign.get(`/api/v2/folders/${project.id}`)).toBeError(404, 'FOLDER_NOT_FOUND');
    expect(await foreign.post('/api/v2/folders', { ...at, name: 'b' })).toBeError(404, 'PROJECT_NOT_FOUND');
    expect(await admin.post('/api/v2/folders', { ...at, environment: 'nope', name: 'b' })).toBeError(
      404,
      'ENVIRONMENT_NOT_FOUND',
    );
  });

  test('do not grow paths over 2,000 characters, by create or by rename', async () => {
    const { admin, at, make } = await seeded();
    const long = 'x'.repeat(249);
    const path = `/${Array.from({ length: 7 }, () => long).join('/')}`;
    expect((await make(path, long)).status).toBe(200);
    expect(await make(`${path}/${long}`, 'y')).toBeError(422, 'VALIDATION_FAILED');
    const { folder } = (await make('/', long)).body;
    expect(await admin.patch(`/api/v2/folders/${folder.id}`, { ...at, name: `${long}y` })).toBeError(
      422,
      'VALIDATION_FAILED',
    );
  });
});
