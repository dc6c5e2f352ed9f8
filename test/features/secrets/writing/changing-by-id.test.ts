import { randomUUID } from 'node:crypto';
import { enumName } from '../../../../src/kernel/names.js';
import { type Caller, mustSucceed, type Reply } from '../../../kit/caller.js';
import { rounds } from '../../../kit/scope.js';
import { useSharedStrongroom } from '../../../kit/strongroom.js';

const FIELDS = {
  updateSecret: 'secret { id secretKey secretValue secretPath version type }',
  updateSecretByKey: 'secret { id secretKey version }',
  deleteSecret: 'secret { id secretKey secretValue }',
  deleteSecretByKey: 'secret { id }',
  updateFolder: 'folder { id name path description version }',
  updateFolders: 'folders { id name path }',
  deleteFolder: 'folder { id path }',
  deleteFolderByName: 'folder { id path }',
  updateSecretImport: 'secretImport { id position source { path } }',
  deleteSecretImport: 'secretImport { id }',
} as const;
type Mutation = keyof typeof FIELDS;

const send = (caller: Caller, mutation: Mutation, input: object): Promise<Reply> => {
  const type = `${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}Input`;
  return caller.graphql(`mutation ($input: ${type}!) { ${mutation}(input: $input) { ${FIELDS[mutation]} } }`, {
    input,
  });
};
const sent = async (caller: Caller, mutation: Mutation, input: object) => {
  const { data } = mustSucceed(await send(caller, mutation, input)).body;
  const { secret, folder, folders, secretImport } = data[mutation];
  return secret ?? folder ?? folders ?? secretImport;
};
const pathsOf = ({ body }: Reply) =>
  (body.errors?.[0].extensions ?? body).details.map((it: { path: string }) => it.path);

/** What changes by id, with what changes of it. */
const BY_ID = [
  ['updateSecret', 'secret', { secretValue: 'new' }, 'SECRET_NOT_FOUND', 'secrets:edit'],
  ['deleteSecret', 'secret', {}, 'SECRET_NOT_FOUND', 'secrets:delete'],
  ['updateFolder', 'folder', { name: 'new' }, 'FOLDER_NOT_FOUND', 'secret-folders:edit'],
  ['deleteFolder', 'folder', { forceDelete: true }, 'FOLDER_NOT_FOUND', 'secret-folders:delete'],
  ['updateSecretImport', 'secretImport', { position: 1 }, 'IMPORT_NOT_FOUND', 'secret-imports:edit'],
  ['deleteSecretImport', 'secretImport', {}, 'IMPORT_NOT_FOUND', 'secret-imports:delete'],
] as const;

describe('by its id alone', () => {
  const strongroom = useSharedStrongroom();

  async function seeded() {
    const { admin, project } = await strongroom.seed.project();
    const at = { projectId: project.id, environment: 'dev' };
    const makeFolder = async (name: string, path = '/') =>
      mustSucceed(await admin.post('/api/v2/folders', { ...at, path, name })).body.folder;
    const makeSecret = async (key: string, secretPath = '/', secretValue = 'v') =>
      mustSucceed(await admin.post(`/api/v4/secrets/${key}`, { ...at, secretPath, secretValue })).body.secret;
    const link = async (path: string, source: string) =>
      mustSucceed(
        await admin.post('/api/v2/secret-imports', { ...at, path, import: { environment: 'dev', path: source } }),
      ).body.secretImport;
    const folder = await makeFolder('app');
    await makeFolder('shared');
    const ids = {
      secret: (await makeSecret('KEY', '/app')).id,
      folder: folder.id,
      secretImport: (await link('/', '/shared')).id,
    };
    const rows = async ({ headers }: Reply) => {
      const found = await strongroom.auditRows('request_id = $1', [headers['x-request-id']]);
      // The states of rows differ: they are digests of what is sealed anew each time.
      return found.map(({ action, project_id, facts: { states: _, ...facts } }) => ({ action, project_id, facts }));
    };
    return { admin, project, at, makeFolder, makeSecret, link, ids, rows };
  }

  test.each(BY_ID)('%s is done for who may, and refused to who may not, for whom nothing changes', async (...row) => {
    const [mutation, kind, change, , action] = row;
    const { admin, project, ids } = await seeded();
    const viewer = await strongroom.seed.caller(admin, { project: project.id });
    const refused = await send(viewer, mutation, { id: ids[kind], ...change });
    expect(refused).toBeError(403, 'PERMISSION_DENIED');
    const [subject = '', verb = ''] = action.split(':');
    expect(refused.text).toContain(`permission ${enumName(verb)} on ${enumName(subject)} in the project`);
    expect((await sent(admin, mutation, { id: ids[kind], ...change })).id).toBe(ids[kind]);
  });

  test.each(BY_ID)('%s answers a hidden thing as one that nobody has, by the same statements', async (...row) => {
    const [mutation, kind, change, code] = row;
    const [own, others] = [await seeded(), await seeded()];
    const colleague = await strongroom.seed.caller(own.admin, { organizationRole: 'member' });
    const ask = (caller: Caller, id: string) => strongroom.statements(() => send(caller, mutation, { id, ...change }));
    const unknown = await ask(own.admin, randomUUID());
    const comparable = ({ result: { status, headers, text }, count }: Awaited<ReturnType<typeof ask>>) => ({
      status,
      text: text.replaceAll(String(headers['x-request-id']), ''),
      count,
    });
    expect(unknown.result).toBeError(404, code);
    expect(comparable(await ask(own.admin, others.ids[kind]))).toEqual(comparable(unknown));
    expect(comparable(await ask(colleague, own.ids[kind]))).toEqual(comparable(await ask(colleague, randomUUID())));
    expect(await send(own.admin, mutation, { id: 'no-id', ...change })).toBeError(404, code);
    expect(await sent(others.admin, mutation, { id: others.ids[kind], ...change })).toMatchObject({});
  });

  test.each(['updateSecret', 'deleteSecret'] as const)(
    '%s finds no secret that the caller may not know of',
    async (mutation) => {
      const { admin, project, ids, makeSecret } = await seeded();
      const { secret: open } = { secret: await makeSecret('OPEN') };
      const slug = `writer-${randomUUID().slice(0, 8)}`;
      mustSucceed(
        await admin.post(`/api/v1/projects/${project.id}/roles`, {
          slug,
          name: 'Writer of the root',
          permissions: [
            { subject: 'secrets', action: ['describeSecret', 'readValue'], conditions: { secretPath: '/' } },
            { subject: 'secrets', action: ['edit', 'delete'] },
          ],
        }),
      );
      const caller = await strongroom.seed.caller(admin, { project: project.id, projectRoles: [slug] });
      const hidden = await strongroom.statements(() => send(caller, mutation, { id: ids.secret }));
      const unknown = await strongroom.statements(() => send(caller, mutation, { id: randomUUID() }));
      expect(hidden.result).toBeError(404, 'SECRET_NOT_FOUND');
      expect(hidden.count).toBe(unknown.count);
      expect((await sent(caller, mutation, { id: open.id })).id).toBe(open.id);
    },
  );

  test('a secret is found after it was renamed and moved, and its new key is carried into references', async () => {
    const { admin, at, project, ids, makeSecret } = await seeded();
    const referring = await makeSecret('URL', '/', '${dev.app.KEY}');
    expect(await sent(admin, 'updateSecret', { id: ids.secret, newSecretKey: 'RENAMED' })).toMatchObject({
      secretKey: 'RENAMED',
      version: 2,
    });
    const value = async (id: string) => (await admin.get(`/api/v4/secrets/id/${id}`)).body.secret.secretValue;
    expect(await value(referring.id)).toBe('${dev.app.RENAMED}');
    mustSucceed(
      await admin.post('/api/v4/secrets/move', {
        projectId: project.id,
        sourceEnvironment: 'dev',
        sourceSecretPath: '/app',
        destinationEnvironment: 'prod',
        destinationSecretPath: '/',
        secretIds: [ids.secret],
        shouldOverwrite: false,
      }),
    );
    // Another secret has its old place now.
    const { id: successor } = await makeSecret('KEY', '/app', 'successor');
    const changed = await sent(admin, 'updateSecret', { id: ids.secret.toUpperCase(), secretValue: 'new' });
    expect(changed).toEqual({
      id: ids.secret,
      secretKey: 'RENAMED',
      secretValue: 'new',
      secretPath: '/',
      version: 4,
      type: 'SHARED',
    });
    expect(await value(successor)).toBe('successor');
    expect(await sent(admin, 'deleteSecret', { id: ids.secret })).toMatchObject({ id: ids.secret, secretValue: 'new' });
    expect(await send(admin, 'deleteSecret', { id: ids.secret })).toBeError(404, 'SECRET_NOT_FOUND');
    expect(await value(successor)).toBe('successor');
    expect((await admin.get(`/api/v4/secrets?projectId=${at.projectId}&environment=prod`)).body.secrets).toEqual([]);
  });

  test('a secret changes by the same statements and with the same audit record as by its key', async () => {
    const { admin, at, makeSecret, rows } = await seeded();
    for (const change of [{ secretValue: 'x' }, { newSecretKey: 'NEW' }]) {
      const { id } = await makeSecret('ONE');
      const byKey = await strongroom.statements(() =>
        send(admin, 'updateSecretByKey', { ...at, secretKey: 'ONE', ...change }),
      );
      await send(admin, 'updateSecret', { id, newSecretKey: 'ONE', secretValue: 'v' });
      const byId = await strongroom.statements(() => send(admin, 'updateSecret', { id, ...change }));
      expect(await rows(byId.result)).toEqual(await rows(byKey.result));
      expect(byId.count).toBeLessThanOrEqual(byKey.count + 1);
      await send(admin, 'deleteSecret', { id });
    }
    const [one, two] = [await makeSecret('ONE'), await makeSecret('TWO')];
    const byKey = await strongroom.statements(() => send(admin, 'deleteSecretByKey', { ...at, secretKey: 'ONE' }));
    const byId = await strongroom.statements(() => send(admin, 'deleteSecret', { id: two.id }));
    const naming = (id: string, found: object[]) => JSON.stringify(found).replaceAll(id, 'ID');
    expect(naming(two.id, await rows(byId.result))).toBe(naming(one.id, await rows(byKey.result)));
    expect(byId.count).toBeLessThanOrEqual(byKey.count + 1);
  });

  test('a user changes the shared secret; its own value in its place is changed by key, and goes with the shared one', async () => {
    const { admin, project, at, ids } = await seeded();
    const ada = await strongroom.seed.user(admin, { project: project.id, projectRoles: ['admin'] });
    const place = { ...at, secretPath: '/app' };
    mustSucceed(await ada.post('/api/v4/secrets/KEY', { ...place, type: 'personal', secretValue: 'mine' }));
    const own = { ...place, secretKey: 'KEY', type: 'PERSONAL' };
    await sent(ada, 'updateSecretByKey', { ...own, secretValue: 'still mine' });
    expect(await sent(ada, 'updateSecret', { id: ids.secret, secretValue: 'ours' })).toMatchObject({
      type: 'SHARED',
      secretValue: 'ours',
    });
    const values = async () =>
      (await ada.get(`/api/v4/secrets?projectId=${project.id}&environment=dev&secretPath=/app`)).body.secrets.map(
        ({ secretValue }: { secretValue: string }) => secretValue,
      );
    expect(await values()).toEqual(['ours', 'still mine']);
    await sent(ada, 'deleteSecret', { id: ids.secret });
    expect(await values()).toEqual([]);
  });

  test('changes by id and by key at once are all made, one after the other', async () => {
    const { admin, at, ids } = await seeded();
    const byKey = { ...at, secretPath: '/app', secretKey: 'KEY' };
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        index % 2 === 0
          ? send(admin.patient, 'updateSecret', { id: ids.secret, secretValue: `id ${index}` })
          : send(admin.patient, 'updateSecretByKey', { ...byKey, secretValue: `key ${index}` }),
      ),
    );
    const versions = replies.map((reply) =>
      Object.values<{ secret: { version: number } }>(mustSucceed(reply).body.data),
    );
    expect(versions.map(([one]) => one?.secret.version).sort((a = 0, b = 0) => a - b)).toEqual(
      Array.from({ length: 20 }, (_, index) => index + 2),
    );
  });

  test('a secret is found while it is renamed, moved, and its folder renamed', async () => {
    const { admin: made, at, ids } = await seeded();
    const admin = made.patient;
    const move = (from: [string, string], to: [string, string]) =>
      admin.post('/api/v4/secrets/move', {
        projectId: at.projectId,
        sourceEnvironment: from[0],
        sourceSecretPath: from[1],
        destinationEnvironment: to[0],
        destinationSecretPath: to[1],
        secretIds: [ids.secret],
        shouldOverwrite: false,
      });
    const last = rounds(30);
    for (let round = 1; round <= last; round += 1) {
      const replies = await Promise.all([
        send(admin, 'updateSecret', { id: ids.secret, newSecretKey: `KEY_${round}` }),
        send(admin, 'updateSecret', { id: ids.secret, secretValue: `value ${round}` }),
        send(admin, 'updateFolder', { id: ids.folder, name: `app${round}` }),
        move(['dev', '/app'], ['prod', '/']),
      ]);
      for (const reply of replies.slice(0, 3)) mustSucceed(reply);
      await send(admin, 'updateFolder', { id: ids.folder, name: 'app' });
      await move(['prod', '/'], ['dev', '/app']);
    }
    expect(await sent(admin, 'updateSecret', { id: ids.secret })).toMatchObject({
      secretKey: `KEY_${last}`,
      secretValue: `value ${last}`,
      secretPath: '/app',
    });
  });

  test('a folder is found after it was moved, and in an environment that has another slug', async () => {
    const { admin, project, ids, makeFolder, rows } = await seeded();
    await makeFolder('inner', '/shared');
    expect(
      await sent(admin, 'updateFolder', { id: ids.folder, newPath: '/shared/inner', name: 'moved' }),
    ).toMatchObject({
      path: '/shared/inner/moved',
      version: 2,
    });
    const environment = `/api/v1/projects/${project.id}/environments/${project.environments[0].id}`;
    mustSucceed(await admin.patch(environment, { slug: 'development' }));
    const described = await send(admin, 'updateFolder', { id: ids.folder, description: 'of the app' });
    expect(mustSucceed(described).body.data.updateFolder.folder).toMatchObject({ description: 'of the app' });
    expect(await rows(described)).toEqual([
      {
        action: 'folder:update',
        project_id: project.id,
        facts: { folderId: ids.folder, environmentId: project.environments[0].id },
      },
    ]);
    expect(await send(admin, 'deleteFolder', { id: ids.folder })).toBeError(409, 'FOLDER_NOT_EMPTY');
    const deleted = await send(admin, 'deleteFolder', { id: ids.folder, forceDelete: true });
    expect(mustSucceed(deleted).body.data.deleteFolder.folder.path).toBe('/shared/inner/moved');
    expect(await rows(deleted)).toMatchObject([
      { action: 'folder:delete', facts: { deletedFolders: 1, deletedSecrets: 1 } },
    ]);
  });

  test('many folders change at once, in whatever environments; one that is not of the project is not found', async () => {
    const { admin, project, at, ids } = await seeded();
    const other = await seeded();
    const { folder } = mustSucceed(
      await admin.post('/api/v2/folders', { ...at, environment: 'prod', name: 'live' }),
    ).body;
    const projectId = project.id;
    const folders = [
      { id: folder.id, onlyIn: { environment: 'prod' }, name: 'alive' },
      { id: ids.folder, name: 'application' },
    ];
    expect(await sent(admin, 'updateFolders', { projectId, folders })).toEqual([
      { id: folder.id, name: 'alive', path: '/alive' },
      { id: ids.folder, name: 'application', path: '/application' },
    ]);
    for (const id of [other.ids.folder, randomUUID()]) {
      const refused = await send(admin, 'updateFolders', { projectId, folders: [...folders, { id, name: 'x' }] });
      expect(refused).toBeError(404, 'FOLDER_NOT_FOUND');
      expect(pathsOf(refused)).toEqual(['input.folders[2]']);
    }
  });

  test('an import is found after its folder was moved', async () => {
    const { admin, link, ids, makeFolder, rows } = await seeded();
    const { id } = await link('/app', '/shared');
    await makeFolder('other');
    await sent(admin, 'updateFolder', { id: ids.folder, newPath: '/other' });
    expect(await sent(admin, 'updateSecretImport', { id, sourceEnvironment: 'dev', sourcePath: '/' })).toMatchObject({
      source: { path: '/' },
    });
    const deleted = await send(admin, 'deleteSecretImport', { id });
    expect(mustSucceed(deleted).body.data.deleteSecretImport.secretImport).toEqual({ id });
    expect(await rows(deleted)).toMatchObject([
      { action: 'secret-import:delete', facts: { importId: id, folderId: ids.folder } },
    ]);
  });

  test('`onlyIn` refuses what is elsewhere, as if it did not exist', async () => {
    const { admin, at, ids } = await seeded();
    const { admin: stranger, project } = await strongroom.seed.project();
    const elsewhere = { ...at, environment: 'prod' };
    const folder = await send(admin, 'updateFolder', { id: ids.folder, onlyIn: elsewhere, name: 'x' });
    expect(folder).toBeError(404, 'FOLDER_NOT_FOUND');
    expect(pathsOf(folder)).toEqual(['input.id']);
    for (const mutation of ['updateSecretImport', 'deleteSecretImport'] as const) {
      const input = { id: ids.secretImport, onlyIn: { ...at, path: '/app' } };
      expect(await send(admin, mutation, input)).toBeError(404, 'IMPORT_NOT_FOUND');
      const unknownProject = { id: ids.secretImport, onlyIn: { ...at, projectId: project.id } };
      expect(await send(admin, mutation, unknownProject)).toBeError(404, 'PROJECT_NOT_FOUND');
      expect(
        await send(stranger, mutation, { id: ids.secretImport, onlyIn: { ...at, projectId: project.id } }),
      ).toBeError(404, 'IMPORT_NOT_FOUND');
    }
    expect(
      await sent(admin, 'updateFolder', { id: ids.folder, onlyIn: { ...at, path: '/' }, name: 'x' }),
    ).toMatchObject({
      name: 'x',
    });
    expect(await sent(admin, 'deleteSecretImport', { id: ids.secretImport, onlyIn: at })).toEqual({
      id: ids.secretImport,
    });
  });

  test('the root folder stays, and faults are told by `id`, in REST by the place in the request', async () => {
    const { admin, at, ids, link } = await seeded();
    const [{ id: root }] = (await strongroom.sql<{ id: string }>(
      `select f.id from folder f join environment e on e.id = f.environment_id
       where e.project_id = $1 and e.slug = 'dev' and f.path = '/'`,
      [at.projectId],
    )) as [{ id: string }];
    for (const reply of [
      await send(admin, 'updateFolder', { id: root, name: 'x' }),
      await send(admin, 'deleteFolder', { id: root, forceDelete: true }),
    ]) {
      expect(reply).toBeError(422, 'VALIDATION_FAILED');
      expect(pathsOf(reply)).toEqual(['input.id']);
    }
    const byName = await send(admin, 'deleteFolderByName', { ...at, name: root });
    expect(pathsOf(byName)).toEqual(['input.name']);
    await link('/shared', '/app');
    const imported = await send(admin, 'deleteFolder', { id: ids.folder, forceDelete: true });
    expect(imported).toBeError(409, 'FOLDER_IMPORTED');
    expect(pathsOf(imported)).toEqual(['input.id']);
    const inRest = await admin.patch(`/api/v2/folders/${root}`, { ...at, name: 'x' });
    expect(pathsOf(inRest)).toEqual(['params.folderId']);
    expect(pathsOf(await admin.patch(`/api/v2/folders/${randomUUID()}`, { ...at, name: 'x' }))).toEqual([
      'params.folderId',
    ]);
    expect(pathsOf(await admin.delete(`/api/v2/folders/${root}`, at))).toEqual(['params.folderId']);
    expect(
      await sent(admin, 'deleteFolderByName', { ...at, name: 'app', forceDelete: true }).catch(() => null),
    ).toBeNull();
  });
});
