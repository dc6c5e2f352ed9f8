import { mustSucceed } from '../../../kit/caller.js';
import { type Caller, useSharedStrongroom } from '../../../kit/strongroom.js';

const IMPORTS = '/api/v2/secret-imports';
const EVERYTHING = ['describeSecret', 'readValue', 'create', 'edit', 'delete'];
const ALL = ['read', 'create', 'edit', 'delete'];

/** Works with secrets below `/team` only, and with all folders, imports, tags and environments. */
const TEAM = [
  { subject: 'secrets', action: EVERYTHING, conditions: { secretPath: { $in: ['/team'] } } },
  { subject: 'secrets', action: EVERYTHING, conditions: { secretPath: { $glob: '/team/**' } } },
  ...['secret-folders', 'secret-imports', 'tags', 'environments'].map((subject) => ({ subject, action: ALL })),
];

describe('where rules look at places and tags', () => {
  const strongroom = useSharedStrongroom();

  async function seeded(permissions: readonly object[]) {
    const { admin, project } = await strongroom.seed.project();
    const at = { projectId: project.id, environment: 'dev' };
    mustSucceed(
      await admin.post(`/api/v1/projects/${project.id}/roles`, { slug: 'limited', name: 'Limited', permissions }),
    );
    const limited: Caller = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['limited'] });
    const make = async (path: string, name: string) =>
      mustSucceed(await admin.post('/api/v2/folders', { ...at, path, name })).body.folder.id as string;
    const put = async (secretPath: string, key: string, more: object = {}) =>
      mustSucceed(await admin.post(`/api/v4/secrets/${key}`, { ...at, secretPath, secretValue: 'v', ...more }));
    const tag = async (slug: string) =>
      mustSucceed(await admin.post(`/api/v1/projects/${project.id}/tags`, { slug, color: 'red' })).body.tag
        .id as string;
    const change = (folderId: string, given: object) =>
      limited.patch(`/api/v2/folders/${folderId}`, { ...at, ...given });
    return { admin, project, at, limited, make, put, tag, change };
  }

  test('nobody moves or renames secrets to where he may do more, nor from where he may not edit them', async () => {
    const { project, limited, make, put, change } = await seeded(TEAM);
    const [team, inner, hidden, empty] = [
      await make('/', 'team'),
      await make('/team', 'inner'),
      await make('/', 'hidden'),
      await make('/', 'empty'),
    ];
    await put('/team/inner', 'OURS');
    await put('/hidden', 'THEIRS');
    expect(await change(hidden, { newPath: '/team' })).toBeError(403, 'PERMISSION_DENIED');
    expect(await change(hidden, { name: 'shown' })).toBeError(403, 'PERMISSION_DENIED');
    expect(await change(inner, { newPath: '/' })).toBeError(403, 'PERMISSION_DENIED');
    expect(await change(team, { name: 'crew' })).toBeError(403, 'PERMISSION_DENIED');
    expect((await change(inner, { name: 'deeper' })).body.folder.path).toBe('/team/deeper');
    expect((await change(empty, { newPath: '/hidden' })).body.folder.path).toBe('/hidden/empty');
    const folders = [inner, hidden].map((id) => ({ id, environment: 'dev', name: `new-${id.slice(0, 4)}` }));
    expect(await limited.patch('/api/v2/folders/batch', { projectId: project.id, folders })).toBeError(
      403,
      'PERMISSION_DENIED',
    );
    const swap = [
      { id: team, environment: 'dev', name: 'hidden' },
      { id: hidden, environment: 'dev', name: 'team' },
    ];
    expect(await limited.patch('/api/v2/folders/batch', { projectId: project.id, folders: swap })).toBeError(
      403,
      'PERMISSION_DENIED',
    );
    const paths = await strongroom.sql('select path from folder where id = any($1::uuid[]) order by path', [
      [team, inner, hidden],
    ]);
    expect(paths.map(({ path }) => path)).toEqual(['/hidden', '/team', '/team/deeper']);
  });

  test('nobody deletes by force what he may not delete', async () => {
    const { at, limited, make, put } = await seeded(TEAM);
    await make('/team', 'a');
    await make('/hidden', 'inner');
    await put('/hidden/inner', 'THEIRS');
    await put('/team/a', 'OURS');
    const remove = (name: string) => limited.delete(`/api/v2/folders/${name}`, { ...at, forceDelete: true });
    expect(await remove('hidden')).toBeError(403, 'PERMISSION_DENIED');
    expect((await remove('team')).status).toBe(200);
  });

  test('nobody deletes by force imports that he may not delete, and places that he may not know are not named', async () => {
    const { admin, at, limited, make } = await seeded([
      { subject: 'secret-folders', action: ALL },
      { subject: 'secrets', action: EVERYTHING },
      { subject: 'secret-imports', action: ALL, conditions: { secretPath: '/known' } },
    ]);
    for (const name of ['shared', 'known', 'hidden']) await make('/', name);
    const link = (path: string, source: string) =>
      admin.post(IMPORTS, { ...at, path, import: { environment: 'dev', path: source } });
    await link('/known', '/shared');
    await link('/hidden', '/shared');
    const remove = (name: string) => limited.delete(`/api/v2/folders/${name}`, { ...at, forceDelete: true });
    const refused = await remove('shared');
    expect(refused).toBeError(409, 'FOLDER_IMPORTED');
    expect(refused.body.details.map(({ message }: { message: string }) => message)).toEqual([
      'is in use: /known of dev imports /shared',
      'is in use: 1 imports are not named here',
    ]);
    expect(refused.text).not.toContain('hidden');
    expect(await remove('hidden')).toBeError(403, 'PERMISSION_DENIED');
    expect((await remove('known')).status).toBe(200);
  });

  test('nobody imports from where he may not know of secrets', async () => {
    const { admin, at, limited, make } = await seeded(TEAM);
    await make('/team', 'a');
    await make('/', 'hidden');
    const link = (source: string) =>
      limited.post(IMPORTS, { ...at, path: '/team', import: { environment: 'dev', path: source } });
    const refused = await link('/hidden');
    expect(refused).toBeError(403, 'PERMISSION_DENIED');
    const rows = await strongroom.auditRows('request_id = $1', [refused.headers['x-request-id']]);
    expect(rows).toMatchObject([{ action: 'secrets:describeSecret', outcome: 'denied' }]);
    const { secretImport } = (await link('/team/a')).body;
    const change = { ...at, path: '/team', import: { path: '/hidden' } };
    expect(await limited.patch(`${IMPORTS}/${secretImport.id}`, change)).toBeError(403, 'PERMISSION_DENIED');
    expect(mustSucceed(await admin.patch(`${IMPORTS}/${secretImport.id}`, change)).status).toBe(200);
    expect((await limited.patch(`${IMPORTS}/${secretImport.id}`, { ...at, path: '/team', import: {} })).status).toBe(
      200,
    );
  });

  test('imports are read and changed where the rules say', async () => {
    const { admin, project, at, limited, make } = await seeded([
      { subject: 'secret-imports', action: ALL, conditions: { environment: 'dev', secretPath: '/a' } },
      { subject: 'secrets', action: 'describeSecret' },
    ]);
    for (const name of ['a', 'b', 'source']) await make('/', name);
    const link = (caller: Caller, path: string, environment = 'dev') =>
      caller.post(IMPORTS, { ...at, environment, path, import: { environment: 'dev', path: '/source' } });
    expect((await link(limited, '/a')).status).toBe(200);
    expect(await link(limited, '/b')).toBeError(403, 'PERMISSION_DENIED');
    expect(await link(limited, '/', 'prod')).toBeError(403, 'PERMISSION_DENIED');
    const { secretImport } = (await link(admin, '/b')).body;
    expect(await limited.get(`${IMPORTS}/${secretImport.id}`)).toBeError(403, 'PERMISSION_DENIED');
    expect(await limited.delete(`${IMPORTS}/${secretImport.id}`, { ...at, path: '/b' })).toBeError(
      403,
      'PERMISSION_DENIED',
    );
    const list = (path: string) => limited.get(`${IMPORTS}?projectId=${project.id}&environment=dev&path=${path}`);
    expect((await list('/a')).body.secretImports).toHaveLength(1);
    expect(await list('/b')).toBeError(403, 'PERMISSION_DENIED');
    const document = `query ($id: ID!) { project(id: $id) { environments { slug a: imports(path: "/a") { nodes { position } } b: imports(path: "/b") { nodes { position } } } } }`;
    const { environments } = (await limited.graphql(document, { id: project.id })).body.data.project;
    expect(environments[0]).toEqual({ slug: 'dev', a: { nodes: [{ position: 1 }] }, b: null });
    expect(environments[1]).toMatchObject({ a: null, b: null });
  });

  test('lists and trees leave out folders that the caller may not see, and secrets that it may not know of', async () => {
    const { project, limited, make, put } = await seeded([
      { subject: 'secret-folders', action: 'read', conditions: { secretPath: { $in: ['/', '/team'] } } },
      { subject: 'secrets', action: 'describeSecret', conditions: { secretName: { $glob: 'PUBLIC_*' } } },
    ]);
    await make('/team/a', 'deep');
    await make('/hidden', 'inner');
    for (const path of ['/team', '/team/a', '/hidden/inner']) {
      for (const key of ['PUBLIC_1', 'PRIVATE_1']) await put(path, key);
    }
    const list = async (query: string) =>
      (await limited.get(`/api/v2/folders?projectId=${project.id}&environment=dev&${query}`)).body;
    const paths = ({ folders }: { folders: { path: string }[] }) => folders.map(({ path }) => path);
    expect(paths(await list('recursive=true'))).toEqual(['/hidden', '/team', '/team/a']);
    const first = await list('recursive=true&limit=2');
    expect(paths(first)).toEqual(['/hidden', '/team']);
    expect(paths(await list(`recursive=true&limit=2&cursor=${first.nextCursor}`))).toEqual(['/team/a']);
    const document = `query ($id: ID!) { folderTree(projectId: $id, environment: "dev") { secretCount folder { path } } }`;
    expect((await limited.data(document, { id: project.id })).folderTree).toEqual(
      [['/', 0] as const, ['/hidden', 0] as const, ['/team', 1] as const, ['/team/a', 1] as const].map(
        ([path, secretCount]) => ({ secretCount, folder: { path } }),
      ),
    );
  });

  test('what is missing above a new folder takes the right to make it there', async () => {
    const { at, limited, make } = await seeded([
      { subject: 'secret-folders', action: 'create', conditions: { secretPath: { $in: ['/a', '/a/b'] } } },
    ]);
    const create = () => limited.post('/api/v2/folders', { ...at, path: '/a/b', name: 'c' });
    expect(await create()).toBeError(403, 'PERMISSION_DENIED');
    await make('/', 'a');
    expect((await create()).body.folder.path).toBe('/a/b/c');
  });

  test('nobody gives himself secrets by the slug of a tag', async () => {
    const { project, limited, put, tag } = await seeded([
      { subject: 'secrets', action: EVERYTHING, conditions: { secretTags: { $in: ['public'] } } },
      { subject: 'tags', action: ALL },
    ]);
    const [hidden, unused] = [await tag('private'), await tag('unused')];
    await put('/', 'KEY', { tagIds: [hidden] });
    const path = `/api/v1/projects/${project.id}/tags`;
    expect(await limited.patch(`${path}/${hidden}`, { slug: 'public' })).toBeError(403, 'PERMISSION_DENIED');
    expect(await limited.delete(`${path}/${hidden}`)).toBeError(403, 'PERMISSION_DENIED');
    expect((await limited.patch(`${path}/${hidden}`, { slug: 'private', color: 'blue' })).status).toBe(200);
    // A secret may get the tag at the same moment: the slug that a rule names is not his to give.
    expect(await limited.patch(`${path}/${unused}`, { slug: 'public' })).toBeError(403, 'PERMISSION_DENIED');
    expect((await limited.patch(`${path}/${unused}`, { slug: 'renamed' })).status).toBe(200);
    expect((await limited.delete(`${path}/${unused}`)).status).toBe(200);
    const list = await limited.get(`/api/v4/secrets?projectId=${project.id}&environment=dev`);
    expect(list.body.secrets).toEqual([]);
  });

  test('nobody lifts what is forbidden for a tag by deleting the tag', async () => {
    const { project, limited, put, tag } = await seeded([
      { subject: 'secrets', action: EVERYTHING },
      { subject: 'secrets', action: EVERYTHING, inverted: true, conditions: { secretTags: { $in: ['restricted'] } } },
      { subject: 'tags', action: ALL },
    ]);
    const [restricted, open] = [await tag('restricted'), await tag('open')];
    await put('/', 'KEY', { tagIds: [restricted, open] });
    await put('/', 'OTHER', { tagIds: [open] });
    const path = `/api/v1/projects/${project.id}/tags`;
    expect(await limited.delete(`${path}/${restricted}`)).toBeError(403, 'PERMISSION_DENIED');
    expect(await limited.patch(`${path}/${restricted}`, { slug: 'free' })).toBeError(403, 'PERMISSION_DENIED');
    const list = await limited.get(`/api/v4/secrets?projectId=${project.id}&environment=dev&tagSlugs=open`);
    expect(list.body.secrets.map(({ secretKey }: { secretKey: string }) => secretKey)).toEqual(['OTHER']);
  });

  test('nobody gives himself secrets by the slug of an environment', async () => {
    const { admin, project, limited, put } = await seeded([
      { subject: 'secrets', action: EVERYTHING, conditions: { environment: 'staging' } },
      ...['environments', 'secret-folders'].map((subject) => ({ subject, action: ALL })),
    ]);
    await put('/', 'KEY');
    const [dev, staging, prod] = project.environments.map(
      ({ id }) => `/api/v1/projects/${project.id}/environments/${id}`,
    ) as [string, string, string];
    expect((await limited.patch(staging, { slug: 'old' })).status).toBe(200);
    expect(await limited.patch(dev, { slug: 'staging' })).toBeError(403, 'PERMISSION_DENIED');
    expect((await limited.patch(dev, { name: 'Staging' })).status).toBe(200);
    expect((await limited.patch(prod, { slug: 'staging' })).status).toBe(200);
    expect((await admin.patch(dev, { slug: 'local' })).status).toBe(200);
  });
});
