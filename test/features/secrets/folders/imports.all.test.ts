import { mustSucceed } from '../../../kit/caller.js';
import { type Caller, type Reply, useSharedStrongroom } from '../../../kit/strongroom.js';

const IMPORTS = '/api/v2/secret-imports';

describe('imports', () => {
  const strongroom = useSharedStrongroom({ REPLY_CACHE_MIB: '0' });

  async function seeded(...folders: string[]) {
    const { admin, project } = await strongroom.seed.project();
    const at = { projectId: project.id, environment: 'dev' };
    for (const path of folders) {
      const name = path.slice(path.lastIndexOf('/') + 1);
      const parent = path.slice(0, -name.length - 1) || '/';
      mustSucceed(await admin.post('/api/v2/folders', { ...at, path: parent, name }));
    }
    const link = (path: string, source: string, sourceEnvironment = 'dev', environment = 'dev') =>
      admin.patient.post(IMPORTS, {
        ...at,
        environment,
        path,
        import: { environment: sourceEnvironment, path: source },
      });
    const listed = async (path = '/', environment = 'dev'): Promise<[string, number][]> =>
      (
        await admin.get(`${IMPORTS}?projectId=${project.id}&environment=${environment}&path=${path}`)
      ).body.secretImports.map((given: { importEnv: { slug: string }; importPath: string; position: number }) => [
        `${given.importEnv.slug}:${given.importPath}`,
        given.position,
      ]);
    return { admin, project, at, link, listed };
  }

  test('are made, read, listed by position, moved, given another source, and deleted', async () => {
    const { admin, project, at, link, listed } = await seeded('/a', '/b', '/c', '/app');
    const made = await link('/app', '/a');
    const [dev] = project.environments;
    expect(made.body).toEqual({
      message: expect.any(String),
      secretImport: {
        id: expect.any(String),
        projectId: project.id,
        environment: 'dev',
        path: '/app',
        folderId: expect.any(String),
        importPath: '/a',
        importEnv: { id: dev.id, name: 'Development', slug: 'dev' },
        importFolderId: expect.any(String),
        isReplication: false,
        position: 1,
        createdAt: expect.any(String),
        updatedAt: expect.any(String),
      },
    });
    const { secretImport } = made.body;
    expect((await admin.get(`${IMPORTS}/${secretImport.id}`)).body).toEqual({ secretImport });
    await link('/app', '/b');
    await link('/app', '/', 'prod');
    expect(await listed('/app')).toEqual([
      ['dev:/a', 1],
      ['dev:/b', 2],
      ['prod:/', 3],
    ]);
    const change = (given: object) =>
      admin.patch(`${IMPORTS}/${secretImport.id}`, { ...at, path: '/app', import: given });
    expect((await change({ position: 99 })).body.secretImport).toMatchObject({ position: 3, importPath: '/a' });
    expect(await listed('/app')).toEqual([
      ['dev:/b', 1],
      ['prod:/', 2],
      ['dev:/a', 3],
    ]);
    expect((await change({ path: '/c', position: 2 })).body.secretImport).toMatchObject({ id: secretImport.id });
    expect(await listed('/app')).toEqual([
      ['dev:/b', 1],
      ['dev:/c', 2],
      ['prod:/', 3],
    ]);
    expect((await change({ environment: 'staging', path: '/' })).body.secretImport.importEnv.slug).toBe('staging');
    expect((await change({})).body.secretImport).toMatchObject({ importPath: '/', position: 2 });
    const gone = await admin.delete(`${IMPORTS}/${secretImport.id}`, { ...at, path: '/app' });
    expect(gone.body.secretImport).toMatchObject({ id: secretImport.id, position: 2 });
    expect(await listed('/app')).toEqual([
      ['dev:/b', 1],
      ['prod:/', 2],
    ]);
    expect(await admin.get(`${IMPORTS}/${secretImport.id}`)).toBeError(404, 'IMPORT_NOT_FOUND');
  });

  test('are listed in pages', async () => {
    const { admin, at, link } = await seeded('/a', '/b', '/c');
    for (const path of ['/c', '/a', '/b']) await link('/', path);
    const query = `${IMPORTS}?projectId=${at.projectId}&environment=dev&limit=2`;
    const first = await admin.get(query);
    expect(first.body.secretImports).toMatchObject([{ importPath: '/c' }, { importPath: '/a' }]);
    const second = await admin.get(`${query}&cursor=${first.body.nextCursor}`);
    expect(second.body.secretImports).toMatchObject([{ importPath: '/b', position: 3 }]);
    expect(second.body.nextCursor).toBeUndefined();
    const invented = Buffer.from('["two"]').toString('base64url');
    expect(await admin.get(`${query}&cursor=${invented}`)).toBeError(422, 'VALIDATION_FAILED');
  });

  test('bring the secrets of their sources', async () => {
    const { admin, project, at, link } = await seeded('/a', '/app');
    await admin.post('/api/v4/secrets/KEY', { ...at, secretPath: '/a', secretValue: `<\${OTHER}>` });
    await admin.post('/api/v4/secrets/OTHER', { ...at, secretPath: '/a', secretValue: 'other' });
    await link('/app', '/a');
    const query = `projectId=${project.id}&environment=dev&path=/app&expandSecretReferences=true`;
    const { body, headers } = await admin.get(`${IMPORTS}/secrets?${query}`);
    expect(headers['cache-control']).toBe('no-store');
    expect(body.secrets).toMatchObject([
      {
        secretPath: '/a',
        environment: 'dev',
        folderId: expect.any(String),
        secrets: [
          { secretKey: 'KEY', secretValue: '<other>' },
          { secretKey: 'OTHER', secretValue: 'other' },
        ],
      },
    ]);
  });

  test('have the older routes too, where the project is the workspace', async () => {
    const { admin, project, link, listed } = await seeded('/a', '/b');
    const path = '/api/v1/secret-imports';
    const at = { workspaceId: project.id, environment: 'dev', path: '/' };
    const made = await admin.post(path, { ...at, import: { environment: 'dev', path: '/a' }, isReplication: false });
    const { secretImport } = made.body;
    expect((await admin.get(`${path}/${secretImport.id}`)).body).toMatchObject({
      secretImport: {
        ...{ id: secretImport.id, importPath: '/a', secretPath: '/' },
        ...{ environment: project.environments[0], importEnv: project.environments[0] },
      },
    });
    await link('/', '/b');
    await admin.patch(`${path}/${secretImport.id}`, { ...at, import: { position: 2 } });
    const rows = (await admin.get(`${path}?workspaceId=${project.id}&environment=dev`)).body.secretImports;
    expect(rows.map(({ importPath }: { importPath: string }) => importPath)).toEqual(['/b', '/a']);
    expect((await admin.delete(`${path}/${secretImport.id}`, at)).status).toBe(200);
    expect(await listed()).toEqual([['dev:/b', 1]]);
    const copy = await admin.post(path, { ...at, import: { environment: 'prod' }, isReplication: true });
    expect(copy).toBeError(422, 'VALIDATION_FAILED');
    expect(copy.body.details).toMatchObject([{ path: 'body.isReplication', code: 'NOT_SUPPORTED_YET' }]);
  });

  test('are refused from the folder itself, twice, in a circle, and from nowhere', async () => {
    const { admin, at, link, listed } = await seeded('/a', '/b', '/c');
    const itself = await link('/a', '/a/');
    expect(itself).toBeError(422, 'VALIDATION_FAILED');
    expect(itself.body.details).toMatchObject([{ path: 'body.import.path', code: 'IMPORT_OF_ITSELF' }]);
    const { secretImport } = (await link('/a', '/b')).body;
    expect(await link('/a', '/b')).toBeError(409, 'IMPORT_EXISTS');
    await link('/b', '/c');
    expect(await link('/b', '/a')).toBeError(409, 'IMPORT_CYCLE');
    expect(await link('/c', '/a')).toBeError(409, 'IMPORT_CYCLE');
    await link('/a', '/', 'prod');
    const change = (given: object) =>
      admin.patch(`${IMPORTS}/${secretImport.id}`, { ...at, path: '/a', import: given });
    expect(await change({ path: '/a' })).toBeError(422, 'VALIDATION_FAILED');
    expect(await change({ environment: 'prod', path: '/' })).toBeError(409, 'IMPORT_EXISTS');
    await link('/', '/a', 'dev', 'staging');
    expect(await change({ environment: 'staging', path: '/' })).toBeError(409, 'IMPORT_CYCLE');
    expect(await link('/a', '/nowhere')).toBeError(404, 'FOLDER_NOT_FOUND');
    expect(await link('/nowhere', '/a')).toBeError(404, 'FOLDER_NOT_FOUND');
    expect(await link('/a', '/', 'nope')).toBeError(404, 'ENVIRONMENT_NOT_FOUND');
    expect(await link('/a', '/x/../b')).toBeError(422, 'VALIDATION_FAILED');
    expect(await admin.patch(`${IMPORTS}/${secretImport.id}`, { ...at, path: '/b', import: {} })).toBeError(
      404,
      'IMPORT_NOT_FOUND',
    );
    expect(await listed('/a')).toEqual([
      ['dev:/b', 1],
      ['prod:/', 2],
    ]);
  });

  test('never close a circle, of 20 pairs of opposite ones that are made at once', async () => {
    const folders = Array.from({ length: 20 }, (_, index) => [`/left-${index}`, `/right-${index}`] as const);
    const { link, listed } = await seeded(...folders.flat());
    const replies = await Promise.all(
      folders.map(([left, right]) => Promise.all([link(left, right), link(right, left)])),
    );
    for (const pair of replies) {
      expect(pair.map(({ status }) => status).sort()).toEqual([200, 409]);
      expect(pair.find(({ status }) => status === 409)).toBeError(409, 'IMPORT_CYCLE');
    }
    for (const [left, right] of folders) {
      expect([...(await listed(left)), ...(await listed(right))]).toHaveLength(1);
    }
  });

  test('of one folder keep positions without gaps, whatever is made, moved and deleted at once', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `/s${index}`);
    const { admin, at, link, listed } = await seeded('/app', ...names);
    const made = await Promise.all(names.slice(0, 8).map((path) => link('/app', path)));
    const ids = made.map(({ body }) => body.secretImport.id as string);
    const replies: Reply[] = await Promise.all([
      ...names.slice(8).map((path) => link('/app', path)),
      ...ids.slice(0, 4).map((id) => admin.patient.delete(`${IMPORTS}/${id}`, { ...at, path: '/app' })),
      ...ids
        .slice(4)
        .map((id, index) =>
          admin.patient.patch(`${IMPORTS}/${id}`, { ...at, path: '/app', import: { position: index * 2 + 1 } }),
        ),
    ]);
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
    expect((await listed('/app')).map(([, position]) => position)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  test('stay with a source that is renamed or moved, also into another environment slug', async () => {
    const { admin, project, at, link, listed } = await seeded('/shared', '/lib');
    await link('/', '/shared', 'dev', 'prod');
    const [shared] = (await admin.get(`/api/v2/folders?projectId=${project.id}&environment=dev`)).body.folders.filter(
      ({ name }: { name: string }) => name === 'shared',
    );
    await admin.patch(`/api/v2/folders/${shared.id}`, { ...at, name: 'common', newPath: '/lib' });
    expect(await listed('/', 'prod')).toEqual([['dev:/lib/common', 1]]);
    await admin.patch(`/api/v1/projects/${project.id}/environments/${project.environments[0].id}`, { slug: 'local' });
    expect(await listed('/', 'prod')).toEqual([['local:/lib/common', 1]]);
  });

  test('are for members who may: a viewer reads, a caller without rights gets 403, a stranger 404', async () => {
    const { admin, project, at, link } = await seeded('/a');
    const { secretImport } = (await link('/', '/a')).body;
    const member = (role: string): Promise<Caller> =>
      strongroom.seed.caller(admin, { project: project.id, projectRoles: [role] });
    const [developer, viewer, nobody] = [await member('member'), await member('viewer'), await member('no-access')];
    const { admin: foreign, project: elsewhere } = await strongroom.seed.project();
    const one = `${IMPORTS}/${secretImport.id}`;
    const body = { ...at, import: { environment: 'prod' } };
    expect((await viewer.get(one)).status).toBe(200);
    expect((await viewer.get(`${IMPORTS}?projectId=${project.id}&environment=dev`)).status).toBe(200);
    expect(await viewer.post(IMPORTS, body)).toBeError(403, 'PERMISSION_DENIED');
    expect(await viewer.patch(one, body)).toBeError(403, 'PERMISSION_DENIED');
    expect(await viewer.delete(one, at)).toBeError(403, 'PERMISSION_DENIED');
    expect(await nobody.get(one)).toBeError(403, 'PERMISSION_DENIED');
    expect(await nobody.post(IMPORTS, { ...body, environment: 'nope' })).toBeError(403, 'PERMISSION_DENIED');
    expect((await developer.post(IMPORTS, body)).status).toBe(200);
    expect(await foreign.get(one)).toBeError(404, 'IMPORT_NOT_FOUND');
    expect(await foreign.delete(one, at)).toBeError(404, 'PROJECT_NOT_FOUND');
    expect(await foreign.delete(one, { ...at, projectId: elsewhere.id })).toBeError(404, 'IMPORT_NOT_FOUND');
    expect((await admin.get(one)).status).toBe(200);
  });

  test('cost the same however many there are, and come with many environments in one statement', async () => {
    const names = Array.from({ length: 30 }, (_, index) => `/s${index}`);
    const { admin, project, link } = await seeded('/few', '/many', '/last', ...names);
    await link('/few', '/s0');
    for (const [index, path] of names.entries()) {
      await link('/many', path);
      if (index > 0) await link(names[index - 1] as string, path);
    }
    const chained = await strongroom.statements(() => link('/last', '/s0'));
    const alone = await strongroom.statements(() => link('/few', '/last'));
    expect([chained.result.status, alone.result.status]).toEqual([200, 200]);
    expect(chained.count).toBe(alone.count);
    const document = `query ($id: ID!, $path: String!) {
      project(id: $id) { environments { imports(path: $path) { nodes { position source { path } } } } }
    }`;
    await admin.data(document, { id: project.id, path: '/few' });
    const few = await strongroom.statements(() => admin.data(document, { id: project.id, path: '/few' }));
    const many = await strongroom.statements(() => admin.data(document, { id: project.id, path: '/many' }));
    expect(
      many.result.project.environments.map(({ imports }: { imports: { nodes: object[] } }) => imports.nodes.length),
    ).toEqual([30, 0, 0]);
    expect(many.result.project.environments[0].imports.nodes[29]).toEqual({ position: 30, source: { path: '/s29' } });
    expect(many.count).toBe(few.count);
    const inFolders = `query ($id: ID!, $path: String!) {
      folders(projectId: $id, environment: "dev", path: $path) { nodes { path imports { nodes { source { path } } } } }
    }`;
    const top = await strongroom.statements(() => admin.data(inFolders, { id: project.id, path: '/' }));
    expect(top.result.folders.nodes.find(({ path }: { path: string }) => path === '/many').imports.nodes).toHaveLength(
      30,
    );
    expect(top.count).toBe(6);
    const viewer = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['no-access'] });
    const { data } = (await viewer.graphql(document, { id: project.id, path: '/many' })).body;
    expect(data.project.environments).toEqual([{ imports: null }, { imports: null }, { imports: null }]);
  });
});
