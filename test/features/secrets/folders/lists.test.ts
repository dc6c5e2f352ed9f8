import { mustSucceed } from '../../../kit/caller.js';
import { useSharedStrongroom } from '../../../kit/strongroom.js';

describe('lists and trees of folders', () => {
  const strongroom = useSharedStrongroom({ REPLY_CACHE_MIB: '0' });

  async function seeded() {
    const { admin, project } = await strongroom.seed.project();
    const at = { projectId: project.id, environment: 'dev' };
    const make = async (path: string, name: string) =>
      mustSucceed(await admin.post('/api/v2/folders', { ...at, path, name }));
    const put = async (secretPath: string, key: string) =>
      mustSucceed(await admin.post(`/api/v4/secrets/${key}`, { ...at, secretPath, secretValue: 'v' }));
    const list = (query: string) => admin.get(`/api/v2/folders?projectId=${project.id}&environment=dev&${query}`);
    const paths = async (query: string): Promise<string[]> =>
      (await list(query)).body.folders.map(({ path }: { path: string }) => path);
    const tree = (path = '/') =>
      admin.data(
        `query ($id: ID!, $path: String!) {
          folderTree(projectId: $id, environment: "dev", path: $path) { depth secretCount folder { path } }
        }`,
        { id: project.id, path },
      );
    return { admin, project, at, make, put, list, paths, tree };
  }

  test('show all below a folder, by path, in pages if wanted, and nothing beside it', async () => {
    const { make, list, paths } = await seeded();
    await make('/app/x', 'deep');
    await make('/app', 'a');
    await make('/', 'app-2');
    expect(await paths('recursive=true')).toEqual(['/app', '/app-2', '/app/a', '/app/x', '/app/x/deep']);
    expect(await paths('recursive=true&path=/app')).toEqual(['/app/a', '/app/x', '/app/x/deep']);
    expect(await paths('path=/app')).toEqual(['/app/a', '/app/x']);
    expect(await paths('recursive=true&path=/app/a')).toEqual([]);
    const first = await list('recursive=true&limit=4');
    expect(await paths(`recursive=true&limit=4&cursor=${first.body.nextCursor}`)).toEqual(['/app/x/deep']);
    expect(await list('recursive=yes')).toBeError(422, 'VALIDATION_FAILED');
    expect(await list('recursive=true&path=/nowhere')).toBeError(404, 'FOLDER_NOT_FOUND');
  });

  test('show only folders in which a secret was written, moved in or deleted since a time', async () => {
    const { admin, at, project, make, put, list, paths } = await seeded();
    for (const name of ['old', 'new', 'gone', 'never']) await make('/', name);
    for (const name of ['old', 'new', 'gone']) await put(`/${name}`, 'K');
    await strongroom.sql(`update secret_version set created_at = now() - interval '1 day' where project_id = $1`, [
      project.id,
    ]);
    const since = `lastSecretModified=${encodeURIComponent(new Date(Date.now() - 3_600_000).toISOString())}`;
    expect(await paths(since)).toEqual([]);
    await admin.patch('/api/v4/secrets/K', { ...at, secretPath: '/new', secretValue: 'w' });
    await admin.delete('/api/v4/secrets/K', { ...at, secretPath: '/gone' });
    expect(await paths(since)).toEqual(['/gone', '/new']);
    expect(await paths(`${since}&recursive=true`)).toEqual(['/gone', '/new']);
    expect(await paths('lastSecretModified=2001-02-03T04:05:06%2B01:00')).toEqual(['/gone', '/new', '/old']);
    expect(await list('lastSecretModified=yesterday')).toBeError(422, 'VALIDATION_FAILED');
  });

  test('show a whole tree, flat, with depths and numbers of secrets', async () => {
    const { make, put, tree } = await seeded();
    await make('/app/x', 'deep');
    await make('/', 'lib');
    for (const [path, key] of [
      ['/', 'A'],
      ['/app/x', 'A'],
      ['/app/x', 'B'],
      ['/lib', 'A'],
    ] as const)
      await put(path, key);
    const entry = (path: string, depth: number, secretCount: number) => ({ depth, secretCount, folder: { path } });
    expect((await tree()).folderTree).toEqual([
      entry('/', 0, 1),
      entry('/app', 1, 0),
      entry('/app/x', 2, 2),
      entry('/app/x/deep', 3, 0),
      entry('/lib', 1, 1),
    ]);
    expect((await tree('/app')).folderTree).toEqual([
      entry('/app', 0, 0),
      entry('/app/x', 1, 2),
      entry('/app/x/deep', 2, 0),
    ]);
  });

  test('cost the same for 500 folders, 20 deep, as for none', async () => {
    const { make, list, tree } = await seeded();
    const all = () => list('recursive=true');
    await Promise.all([all(), tree()]);
    const empty = [(await strongroom.statements(all)).count, (await strongroom.statements(() => tree())).count];
    for (let chain = 0; chain < 25; chain += 1) {
      await make(`/chain-${chain}${'/level'.repeat(18)}`, 'end');
    }
    const listed = await strongroom.statements(all);
    const grown = await strongroom.statements(() => tree());
    expect(listed.result.body.folders).toHaveLength(500);
    expect(grown.result.folderTree).toHaveLength(501);
    expect([listed.count, grown.count]).toEqual(empty);
  });

  test('are for members who may; a stranger finds nothing', async () => {
    const { admin, project } = await seeded();
    const nobody = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['no-access'] });
    const { admin: foreign } = await strongroom.seed.project();
    const document = `query ($id: ID!, $environment: String!) { folderTree(projectId: $id, environment: $environment) { depth } }`;
    const ask = (caller: typeof admin, environment: string) =>
      caller.graphql(document, { id: project.id, environment });
    expect(await ask(nobody, 'dev')).toBeError(403, 'PERMISSION_DENIED');
    expect(await ask(nobody, 'nope')).toBeError(403, 'PERMISSION_DENIED');
    expect(await ask(foreign, 'dev')).toBeError(404, 'PROJECT_NOT_FOUND');
    expect(await ask(admin, 'nope')).toBeError(404, 'ENVIRONMENT_NOT_FOUND');
  });
});
