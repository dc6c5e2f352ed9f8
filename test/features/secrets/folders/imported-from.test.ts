import { mustSucceed } from '../../../kit/caller.js';
import { rounds } from '../../../kit/scope.js';
import { useSharedStrongroom } from '../../../kit/strongroom.js';

const IMPORTS = '/api/v2/secret-imports';

describe('what others import from', () => {
  const strongroom = useSharedStrongroom();

  async function seeded() {
    const { admin, project } = await strongroom.seed.project();
    const at = { projectId: project.id, environment: 'dev' };
    const make = async (path: string, name: string) =>
      mustSucceed(await admin.post('/api/v2/folders', { ...at, path, name })).body.folder;
    const link = async (path: string, source: string, environment = 'dev', sourceEnvironment = 'dev') =>
      mustSucceed(
        await admin.post(IMPORTS, {
          ...at,
          environment,
          path,
          import: { environment: sourceEnvironment, path: source },
        }),
      ).body.secretImport;
    const remove = (name: string, forceDelete = true) =>
      admin.delete(`/api/v2/folders/${name}`, { ...at, forceDelete });
    const environment = (index: 0 | 1 | 2) =>
      `/api/v1/projects/${project.id}/environments/${project.environments[index].id}`;
    return { admin, project, at, make, link, remove, environment };
  }

  test('a folder stays, empty or not, forced or not, and it is said where', async () => {
    const { admin, at, make, link, remove } = await seeded();
    await make('/', 'shared');
    await make('/', 'app');
    const secretImport = await link('/app', '/shared');
    for (const isForced of [false, true]) expect(await remove('shared', isForced)).toBeError(409, 'FOLDER_IMPORTED');
    await make('/shared', 'inner');
    await link('/', '/shared/inner', 'prod');
    await link('/shared', '/shared/inner');
    const refused = await remove('shared');
    expect(refused).toBeError(409, 'FOLDER_IMPORTED');
    expect(refused.body.details).toEqual([
      { path: 'params.folderId', code: 'FOLDER_IMPORTED', message: 'is in use: /app of dev imports /shared' },
      { path: 'params.folderId', code: 'FOLDER_IMPORTED', message: 'is in use: / of prod imports /shared/inner' },
    ]);
    expect(await remove('shared', false)).toBeError(409, 'FOLDER_NOT_EMPTY');
    await admin.delete(`${IMPORTS}/${secretImport.id}`, { ...at, path: '/app' });
    const left = await remove('shared');
    expect(left.body.details).toHaveLength(1);
    const rows = await strongroom.auditRows(`request_id = $1`, [left.headers['x-request-id']]);
    expect(rows).toEqual([]);
  });

  test('a folder goes by force with the imports in it, those between its own folders and those of others', async () => {
    const { admin, at, project, make, link, remove } = await seeded();
    await make('/', 'shared');
    await make('/tree', 'a');
    await make('/tree', 'b');
    await link('/tree/a', '/tree/b');
    await link('/tree', '/tree/a');
    await link('/tree', '/shared');
    await link('/tree/b', '/', 'dev', 'prod');
    expect(await remove('tree', false)).toBeError(409, 'FOLDER_NOT_EMPTY');
    const gone = await remove('tree');
    expect(gone.body.folder.path).toBe('/tree');
    const [row] = await strongroom.auditRows(`request_id = $1`, [gone.headers['x-request-id']]);
    expect(row?.facts).toMatchObject({ deletedFolders: 3, deletedSecrets: 0 });
    expect(await strongroom.sql('select 1 from secret_import where project_id = $1', [project.id])).toEqual([]);
    expect((await admin.delete('/api/v2/folders/shared', at)).status).toBe(200);
  });

  test('a folder that only imports is not empty', async () => {
    const { make, link, remove } = await seeded();
    await make('/', 'app');
    await link('/app', '/', 'dev', 'prod');
    expect(await remove('app', false)).toBeError(409, 'FOLDER_NOT_EMPTY');
    expect((await remove('app')).status).toBe(200);
  });

  test('a folder is not deleted while an import of it is made: one of both is refused', async () => {
    const { at, admin, make, remove } = await seeded();
    await make('/', 'app');
    for (let round = 0; round < rounds(10); round += 1) {
      await make('/', 'shared');
      const [made, deleted] = await Promise.all([
        admin.post(IMPORTS, { ...at, path: '/app', import: { environment: 'dev', path: '/shared' } }),
        remove('shared'),
      ]);
      if (made.status === 200) {
        expect(deleted).toBeError(409, 'FOLDER_IMPORTED');
        await admin.delete(`${IMPORTS}/${made.body.secretImport.id}`, { ...at, path: '/app' });
        await remove('shared');
      } else {
        expect(made).toBeError(404, 'FOLDER_NOT_FOUND');
        expect(deleted.status).toBe(200);
      }
    }
  });

  test('secrets of a folder that goes leave their mark in the history', async () => {
    const { admin, at, project, make, remove } = await seeded();
    await make('/tree', 'a');
    for (const secretPath of ['/tree', '/tree/a']) {
      await admin.post('/api/v4/secrets/K', { ...at, secretPath, secretValue: 'v' });
    }
    const gone = await remove('tree');
    const rows = await strongroom.sql(
      `select path, version, is_deletion, actor_id, value_sealed is null as empty from secret_version where project_id = $1 order by path, version`,
      [project.id],
    );
    expect(rows).toEqual(
      ['/tree', '/tree/a'].flatMap((path) => [
        { path, version: 1, is_deletion: false, actor_id: admin.identityId, empty: false },
        { path, version: 2, is_deletion: true, actor_id: admin.identityId, empty: true },
      ]),
    );
    const [row] = await strongroom.auditRows(`request_id = $1`, [gone.headers['x-request-id']]);
    expect(row?.facts).toMatchObject({ deletedFolders: 2, deletedSecrets: 2 });
  });

  test('an environment stays, and goes when nobody imports from it any more', async () => {
    const { admin, at, make, link, environment } = await seeded();
    await make('/', 'app');
    await link('/app', '/', 'dev');
    const secretImport = await link('/', '/app', 'prod');
    expect(await admin.delete(environment(0))).toBeError(409, 'ENVIRONMENT_IMPORTED');
    expect((await admin.get(environment(0))).status).toBe(200);
    await admin.delete(`${IMPORTS}/${secretImport.id}`, { ...at, environment: 'prod' });
    expect((await admin.delete(environment(0))).status).toBe(200);
  });

  test('an environment takes the imports in it along', async () => {
    const { admin, project, link, environment } = await seeded();
    await link('/', '/', 'prod', 'dev');
    await link('/', '/', 'dev', 'staging');
    expect((await admin.delete(environment(2))).status).toBe(200);
    expect(await strongroom.sql('select 1 from secret_import where project_id = $1', [project.id])).toHaveLength(1);
  });

  test('a project goes with all its imports', async () => {
    const { admin, project, make, link } = await seeded();
    await make('/a', 'b');
    await link('/a', '/a/b');
    await link('/', '/a', 'prod');
    expect((await admin.delete(`/api/v1/projects/${project.id}`)).status).toBe(200);
    expect(await strongroom.sql('select 1 from secret_import where project_id = $1', [project.id])).toEqual([]);
  });
});
