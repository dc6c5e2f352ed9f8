import { type Caller, useSharedStrongroom } from '../../kit/strongroom.js';

const RAW = '/api/v3/secrets/raw';
const FOLDERS = '/api/v1/folders';

describe('routes in the words of before', () => {
  const strongroom = useSharedStrongroom();

  async function scene() {
    const { admin, project } = await strongroom.seed.project();
    const place = { workspaceId: project.id, environment: 'dev' };
    await admin.post(`${RAW}/ONE`, { ...place, secretValue: 'one' });
    const list = (query: Record<string, string>, caller: Caller = admin) =>
      caller.get(`${RAW}?${new URLSearchParams({ environment: 'dev', ...query })}`);
    return { admin, project, place, list };
  }

  test('answer what the present ones answer, with the same tag', async () => {
    const { admin, project, list } = await scene();
    const present = await admin.get(`/api/v4/secrets?projectId=${project.id}&environment=dev`);
    const older = await list({ workspaceId: project.id });
    expect(older.text).toBe(present.text);
    expect(older.headers.etag).toBe(present.headers.etag);
    expect(older.headers['cache-control']).toBe('no-store');
  });

  test('take the id of a project or its slug, whatever is left empty', async () => {
    const { admin, project, place, list } = await scene();
    const { text } = await list({ workspaceId: project.id });
    expect((await list({ workspaceSlug: project.slug })).text).toBe(text);
    expect((await list({ workspaceId: project.id, workspaceSlug: '' })).text).toBe(text);
    expect((await list({ workspaceId: '', workspaceSlug: project.slug })).text).toBe(text);
    const bySlug = { projectSlug: project.slug, environment: 'dev' };
    expect((await admin.patch(`${RAW}/ONE`, { ...bySlug, secretValue: 'two' })).body.secret.version).toBe(2);
    expect((await admin.post(FOLDERS, { ...bySlug, name: 'app' })).body.folder.path).toBe('/app');
    const both = { ...place, projectId: project.id };
    expect((await admin.delete(`${RAW}/ONE`, both)).body.secret.secretValue).toBe('two');
  });

  test('refuse a project that is named in no way, or in two', async () => {
    const { admin, project, place, list } = await scene();
    const violation = { details: [{ path: 'query.workspaceId', code: 'INVALID', message: expect.any(String) }] };
    for (const query of [{}, { workspaceId: '' }, { workspaceId: project.id, workspaceSlug: project.slug }]) {
      const reply = await list(query as Record<string, string>);
      expect(reply).toBeError(422, 'VALIDATION_FAILED');
      expect(reply.body).toMatchObject(violation);
    }
    const twoIds = { ...place, projectId: admin.identityId, secretValue: 'x' };
    expect(await admin.post(`${RAW}/TWO`, twoIds)).toBeError(422, 'VALIDATION_FAILED');
  });

  test('find a slug of strangers as little as one that nobody has', async () => {
    const { list } = await scene();
    const { project: foreign } = await strongroom.seed.project();
    const [hidden, unknown] = [
      await list({ workspaceSlug: foreign.slug }),
      await list({ workspaceSlug: 'nobodys-shop' }),
    ];
    expect(hidden).toBeError(404, 'PROJECT_NOT_FOUND');
    expect(hidden.text.replace(hidden.body.reqId, '')).toBe(unknown.text.replace(unknown.body.reqId, ''));
  });

  test('leave a row for the project that was looked up, and one for what was done', async () => {
    const { project, list } = await scene();
    const { headers } = await list({ workspaceSlug: project.slug });
    const rows = await strongroom.auditRows('request_id = $1', [headers['x-request-id']]);
    expect(rows.map(({ action, project_id }) => [action, project_id])).toEqual([
      ['project:get', project.id],
      ['secret:list', project.id],
    ]);
  });

  test('take what published clients send without meaning, each where they send it', async () => {
    const { admin, project, place } = await scene();
    const at = `workspaceId=${project.id}&environment=dev`;
    expect((await admin.get(`${RAW}/ONE?${at}&secretName=ONE`)).status).toBe(200);
    const change = { ...place, secretName: 'ONE', secretValue: 'changed', metadata: { a: 1 } };
    expect((await admin.patch(`${RAW}/ONE`, change)).body.secret).toMatchObject({ secretValue: 'changed', version: 2 });
    expect((await admin.delete(`${RAW}/ONE`, { ...place, secretName: 'ONE' })).status).toBe(200);
    expect(await admin.get(`${RAW}?${at}&secretName=ONE`)).toBeError(422, 'VALIDATION_FAILED');
    const made = await admin.post(`${RAW}/TWO`, { ...place, secretKey: 'TWO', metadata: {} });
    expect([made.status, made.headers['x-ignored-keys']]).toEqual([200, 'secretKey, metadata']);
    for (const other of [{ secretKey: 'ONE' }, { secretName: 'ONE' }])
      expect(await admin.patch(`${RAW}/TWO`, { ...place, ...other, secretValue: 'x' })).toBeError(
        422,
        'VALIDATION_FAILED',
      );
    expect(await admin.delete(`${RAW}/TWO`, { ...place, secretName: 'ONE' })).toBeError(422, 'VALIDATION_FAILED');
    expect(await admin.get(`${RAW}?${at}&recurse=true`)).toBeError(422, 'VALIDATION_FAILED');
    const present = `/api/v4/secrets/ONE?projectId=${project.id}&environment=dev`;
    expect(await admin.get(`${present}&secretName=ONE`)).toBeError(422, 'VALIDATION_FAILED');
  });

  test('take a boolean of folders as Python writes it', async () => {
    const { admin, project, place } = await scene();
    await admin.post(FOLDERS, { ...place, path: '/a', name: 'b' });
    const names = async (path: string, word: string) => {
      const query = new URLSearchParams({ [word]: project.id, environment: 'dev' });
      const list = async (recursive: string) =>
        (await admin.get(`${path}?${query}&recursive=${recursive}`)).body.folders;
      return [await list('True'), await list('False')].map((folders) =>
        folders.map((each: { name: string }) => each.name),
      );
    };
    expect(await names(FOLDERS, 'workspaceId')).toEqual([['a', 'b'], ['a']]);
    expect(await names('/api/v2/folders', 'projectId')).toEqual([['a', 'b'], ['a']]);
  });

  test('take a path of folders as a directory', async () => {
    const { admin, project, place } = await scene();
    await admin.post(FOLDERS, { ...place, path: '/a', name: 'b' });
    const list = await admin.get(`${FOLDERS}?workspaceId=${project.id}&environment=dev&directory=/a`);
    expect(list.body.folders).toMatchObject([{ name: 'b', path: '/a/b' }]);
    const refused = await admin.delete(`${FOLDERS}/b`, { ...place, directory: '/a', path: '/other' });
    expect([refused.status, refused.body.details[0].path]).toEqual([422, 'body.directory']);
    const gone = await admin.delete(`${FOLDERS}/b`, { ...place, directory: '/a', folderName: 'b' });
    expect(gone.body.folder.path).toBe('/a/b');
  });

  test('and present ones include imports in either spelling', async () => {
    const { admin, project, place } = await scene();
    for (const name of ['app', 'lib']) await admin.post(FOLDERS, { ...place, name });
    await admin.post(`${RAW}/TWO`, { ...place, secretPath: '/lib', secretValue: 'two' });
    const source = { environment: 'dev', path: '/lib' };
    await admin.post('/api/v1/secret-imports', { ...place, path: '/app', import: source });
    for (const [path, word] of [
      ['/api/v4/secrets', 'projectId'],
      [RAW, 'workspaceId'],
    ] as const) {
      for (const spelling of ['include_imports', 'includeImports']) {
        const at = `${word}=${project.id}&environment=dev&secretPath=/app&${spelling}=true`;
        expect((await admin.get(`${path}?${at}`)).body.imports).toMatchObject([{ secretPath: '/lib' }]);
        expect((await admin.get(`${path}/TWO?${at}`)).body.secret.secretValue).toBe('two');
      }
    }
  });

  test('make, change and delete many secrets at once', async () => {
    const { admin, place } = await scene();
    const batch = '/api/v3/secrets/batch/raw';
    const secrets = ['A', 'B'].map((secretKey) => ({ secretKey, secretValue: secretKey }));
    expect((await admin.post(batch, { ...place, secrets })).body.secrets).toMatchObject(secrets);
    const changes = secrets.map((secret) => ({ ...secret, secretValue: 'new' }));
    expect((await admin.patch(batch, { ...place, secrets: changes })).body.secrets).toMatchObject(changes);
    const keys = secrets.map(({ secretKey }) => ({ secretKey }));
    expect((await admin.delete(batch, { ...place, secrets: keys })).body.secrets).toMatchObject(changes);
  });
});
