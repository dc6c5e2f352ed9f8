import { type Caller, mustSucceed, type Reply } from '../../../kit/caller.js';
import { markRotated } from '../../../kit/rotated.js';
import { useSharedStrongroom } from '../../../kit/strongroom.js';
import { copied } from '../../project-copies/kit.js';

const SECRETS = '/api/v4/secrets';

describe('a secret that a rotation writes', () => {
  const strongroom = useSharedStrongroom();

  /** `/app` of dev: USER and PASSWORD are written by a rotation, PLAIN is not. `/to` has a PASSWORD of its own. */
  async function seeded(values: Partial<Record<'USER' | 'PASSWORD' | 'PLAIN', string>> = {}) {
    const { admin, project } = await strongroom.seed.project();
    const at = { projectId: project.id, environment: 'dev' };
    const folders: Record<string, string> = {};
    for (const name of ['app', 'to'])
      folders[name] = mustSucceed(await admin.post('/api/v2/folders', { ...at, name })).body.folder.id;
    const put = async (secretPath: string, secrets: Record<string, string>) => {
      const given = Object.entries(secrets).map(([secretKey, secretValue]) => ({ secretKey, secretValue }));
      const reply = await admin.post(`${SECRETS}/batch`, { ...at, secretPath, secrets: given });
      return mustSucceed(reply).body.secrets.map(({ id }: { id: string }) => id) as string[];
    };
    const before = new Date();
    const [user, password, plain] = (await put('/app', {
      USER: values.USER ?? 'app',
      PASSWORD: values.PASSWORD ?? 'old',
      PLAIN: values.PLAIN ?? 'old',
    })) as [string, string, string];
    const [inTheWay] = (await put('/to', { PASSWORD: 'ordinary' })) as [string];
    const rotationId = await markRotated(strongroom, user, password);
    return {
      admin,
      project,
      at,
      app: { ...at, secretPath: '/app' },
      folders,
      before,
      user,
      password,
      plain,
      inTheWay,
      rotationId,
    };
  }
  type Scene = Awaited<ReturnType<typeof seeded>>;

  const mutate = (caller: Caller, mutation: string, input: object, fields: string): Promise<Reply> => {
    const type = `${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}Input`;
    return caller.graphql(`mutation ($input: ${type}!) { ${mutation}(input: $input) { ${fields} } }`, { input });
  };
  const pathsOf = ({ body }: Reply): string[] =>
    (body.errors?.[0].extensions ?? body).details
      .map(({ path, code }: { path: string; code: string }) => (code === 'ROTATED_SECRET' ? path : code))
      .sort();
  const listed = async ({ admin, project }: Scene, path = '/', query = 'recursive=true') => {
    const url = `${SECRETS}?projectId=${project.id}&environment=dev&secretPath=${path}&${query}`;
    return mustSucceed(await admin.get(url)).body.secrets as Record<string, unknown>[];
  };
  /** All that a refused change must leave as it is. */
  const stateOf = async (scene: Scene) => ({
    secrets: await listed(scene),
    folders: await strongroom.sql('select id, path from folder where project_id = $1 order by id', [scene.project.id]),
    versions: await strongroom.sql(
      'select secret_id, version from secret_version where project_id = $1 order by secret_id, version',
      [scene.project.id],
    ),
  });
  const transferOf = ({ project }: Scene, from: string, to: string, secretIds: string[]) => ({
    projectId: project.id,
    sourceEnvironment: 'dev',
    sourceSecretPath: from,
    destinationEnvironment: 'dev',
    destinationSecretPath: to,
    secretIds,
    shouldOverwrite: true,
  });

  /** What others may not do: how they would, and which places of the request the refusal names. */
  const REFUSED: Record<string, [(scene: Scene) => Promise<Reply>, ...places: string[]]> = {
    'another value': [
      ({ admin, app }) => admin.patch(`${SECRETS}/PASSWORD`, { ...app, secretValue: 'mine' }),
      'body.secretValue',
    ],
    'the value that it has': [
      ({ admin, app }) => admin.patch(`${SECRETS}/PASSWORD`, { ...app, secretValue: 'old' }),
      'body.secretValue',
    ],
    'another key': [
      ({ admin, app }) => admin.patch(`${SECRETS}/PASSWORD`, { ...app, newSecretName: 'MINE' }),
      'body.newSecretName',
    ],
    'value and key by id': [
      ({ admin, password }) =>
        mutate(admin, 'updateSecret', { id: password, secretValue: 'mine', newSecretKey: 'MINE' }, 'secret { id }'),
      'input.newSecretKey',
      'input.secretValue',
    ],
    'several in a batch, all named at once': [
      ({ admin, app }) =>
        admin.patch(`${SECRETS}/batch`, {
          ...app,
          secrets: [
            { secretKey: 'PLAIN', secretValue: 'new' },
            { secretKey: 'USER', newSecretName: 'LOGIN' },
            { secretKey: 'PASSWORD', secretValue: 'mine', newSecretName: 'MINE' },
          ],
        }),
      'body.secrets[1].newSecretName',
      'body.secrets[2].newSecretName',
      'body.secrets[2].secretValue',
    ],
    'an upsert': [
      ({ admin, app }) =>
        admin.patch(`${SECRETS}/batch`, {
          ...app,
          mode: 'upsert',
          secrets: [
            { secretKey: 'NEW', secretValue: 'new' },
            { secretKey: 'PASSWORD', secretValue: 'mine' },
          ],
        }),
      'body.secrets[1].secretValue',
    ],
    'several by their ids': [
      ({ admin, user, password, plain }) =>
        mutate(
          admin,
          'updateSecretsById',
          {
            secrets: [
              { id: plain, secretValue: 'new' },
              { id: user, secretValue: 'mine' },
              { id: password, newSecretKey: 'MINE' },
            ],
          },
          'updates { secret { id } }',
        ),
      'input.secrets[1].secretValue',
      'input.secrets[2].newSecretKey',
    ],
    'a dry run by ids': [
      ({ admin, password }) =>
        mutate(
          admin,
          'updateSecretsById',
          { secrets: [{ id: password, secretValue: 'mine' }], dryRun: true },
          'updates { secret { id } }',
        ),
      'input.secrets[0].secretValue',
    ],
    'a value replaced wherever it is': [
      ({ admin, plain }) =>
        mutate(admin, 'replaceValue', { likeSecretId: plain, secretValue: 'mine' }, 'updates { secret { id } }'),
      'input.secretValue',
    ],
    deletion: [({ admin, app }) => admin.delete(`${SECRETS}/PASSWORD`, app), 'params.secretName'],
    'deletion by id': [
      ({ admin, password }) => mutate(admin, 'deleteSecret', { id: password }, 'secret { id }'),
      'input.id',
    ],
    'deletion of several': [
      ({ admin, app }) =>
        admin.delete(`${SECRETS}/batch`, {
          ...app,
          secrets: ['PLAIN', 'USER', 'PASSWORD'].map((secretKey) => ({ secretKey })),
        }),
      'body.secrets[1].secretKey',
      'body.secrets[2].secretKey',
    ],
    'a move of it': [
      (scene) =>
        scene.admin.post(`${SECRETS}/move`, transferOf(scene, '/app', '/', [scene.plain, scene.password, scene.user])),
      'body.secretIds[1]',
      'body.secretIds[2]',
    ],
    'a move over it': [
      (scene) => scene.admin.post(`${SECRETS}/move`, transferOf(scene, '/to', '/app', [scene.inTheWay])),
      'body.secretIds[0]',
    ],
    'a copy over it': [
      (scene) => scene.admin.post(`${SECRETS}/copy`, transferOf(scene, '/to', '/app', [scene.inTheWay])),
      'body.secretIds[0]',
    ],
    'a file that overwrites it': [
      ({ admin, app }) =>
        admin.post(`${SECRETS}/import`, {
          ...app,
          format: 'dotenv',
          mode: 'overwrite',
          content: 'NEW=new\nPASSWORD=mine\nUSER=mine\n',
        }),
      'body.content[2]',
      'body.content[3]',
    ],
    'the restore of a version': [
      ({ admin, password }) => mutate(admin, 'restoreSecret', { id: password, version: 1 }, 'secret { id }'),
      'input.id',
    ],
    'the restore of a state': [
      ({ admin, app, before }) => admin.post('/api/v1/secrets/restore', { ...app, at: before.toISOString() }),
      '/app/PASSWORD',
      '/app/USER',
    ],
    'the preview of that': [
      ({ admin, app, before }) =>
        admin.post('/api/v1/secrets/restore', { ...app, at: before.toISOString(), dryRun: true }),
      '/app/PASSWORD',
      '/app/USER',
    ],
    'deletion of its folder with everything in it': [
      ({ admin, folders }) => mutate(admin, 'deleteFolder', { id: folders.app, forceDelete: true }, 'folder { id }'),
      'input.id',
    ],
    'deletion of its folder by name': [
      ({ admin, at }) => admin.delete('/api/v2/folders/app', { ...at, path: '/', forceDelete: true }),
      'params.folderId',
    ],
    'deletion of its environment': [
      async ({ admin, project }) => {
        const { environments } = mustSucceed(await admin.get(`/api/v1/projects/${project.id}`)).body.project;
        const { id } = environments.find(({ slug }: { slug: string }) => slug === 'dev');
        return mutate(admin, 'deleteEnvironment', { projectId: project.id, id }, 'environment { id }');
      },
      'input.id',
    ],
  };

  test.each(Object.keys(REFUSED))('is left alone: %s', async (name) => {
    const scene = await seeded();
    const before = await stateOf(scene);
    const [attempt, ...places] = REFUSED[name] as (typeof REFUSED)[string];
    const reply = await attempt(scene);
    expect(reply).toBeError(409, 'ROTATED_SECRET');
    expect(pathsOf(reply)).toEqual(places);
    expect(await stateOf(scene)).toEqual(before);
  });

  test('is shown as such wherever it is shown', async () => {
    const scene = await seeded();
    const { admin, project, rotationId, password, plain } = scene;
    const mark = { isRotatedSecret: true, rotationId };
    const none = { isRotatedSecret: false, rotationId: null };
    expect(await listed(scene, '/app')).toMatchObject([
      { secretKey: 'PASSWORD', ...mark },
      { secretKey: 'PLAIN', ...none },
      { secretKey: 'USER', ...mark },
    ]);
    const byKey = await admin.get(`${SECRETS}/PASSWORD?projectId=${project.id}&environment=dev&secretPath=/app`);
    expect(byKey.body.secret).toMatchObject(mark);
    expect((await admin.get(`${SECRETS}/id/${password}`)).body.secret).toMatchObject(mark);
    expect((await admin.get(`${SECRETS}/id/${plain}`)).body.secret).toMatchObject(none);
    const old = `${SECRETS}/PASSWORD?projectId=${project.id}&environment=dev&secretPath=/app&version=1`;
    expect((await admin.get(old)).body.secret).toMatchObject(mark);
    const { project: nested, searchSecrets } = await admin.data(
      `query ($p: ID!) {
        project(id: $p) { environments { slug secrets(path: "/app") { nodes { secretKey isRotatedSecret rotationId } } } }
        searchSecrets(input: { key: { equals: "PASSWORD" }, projectIds: [$p], secretPath: "/app" }) {
          nodes { secret { isRotatedSecret rotationId } } } }`,
      { p: project.id },
    );
    const dev = nested.environments.find(({ slug }: { slug: string }) => slug === 'dev');
    expect(dev.secrets.nodes).toContainEqual({ secretKey: 'PASSWORD', ...mark });
    expect(searchSecrets.nodes).toEqual([{ secret: mark }]);
  });

  test('has a comment, tags, metadata and a reminder that people change, one or many', async () => {
    const scene = await seeded();
    const { admin, project, app, user, password, plain, rotationId } = scene;
    const { tag } = mustSucceed(
      await admin.post(`/api/v1/projects/${project.id}/tags`, { slug: 'db', color: 'red' }),
    ).body;
    const beside = {
      secretComment: 'of the shop',
      tagIds: [tag.id],
      secretMetadata: [{ key: 'owner', value: 'ops', isEncrypted: true }],
      secretReminderNote: 'look',
      secretReminderRepeatDays: 30,
      skipMultilineEncoding: true,
    };
    mustSucceed(await admin.patch(`${SECRETS}/PASSWORD`, { ...app, ...beside, newSecretName: 'PASSWORD' }));
    mustSucceed(await admin.patch(`${SECRETS}/batch`, { ...app, secrets: [{ secretKey: 'PASSWORD', ...beside }] }));
    const many = {
      secrets: [
        { id: password, secretComment: 'many' },
        { id: user, ...beside },
      ],
    };
    mustSucceed(await mutate(admin, 'updateSecretsById', many, 'updates { secret { id } }'));
    const [shown, , other] = await listed(scene, '/app');
    expect(shown).toMatchObject({ secretValue: 'old', secretComment: 'many', version: 4, rotationId });
    expect(shown).toMatchObject({ tags: [{ slug: 'db' }], secretReminderRepeatDays: 30 });
    expect(other).toMatchObject({ secretValue: 'app', secretComment: 'of the shop', version: 2, rotationId });
    const { duplicateValues } = await admin.data(
      'query ($p: ID!) { duplicateValues(input: { projectIds: [$p] }) { nodes { secrets { secretId } } } }',
      { p: project.id },
    );
    expect(duplicateValues.nodes).toEqual([{ secrets: [{ secretId: password }, { secretId: plain }] }]);
  });

  test('is no place for another one: its key is taken', async () => {
    const { admin, app, password } = await seeded();
    expect(await admin.post(`${SECRETS}/PASSWORD`, { ...app, secretValue: 'x' })).toBeError(409, 'SECRET_KEY_TAKEN');
    // Before there is the secret, and between two of its writes, the key is kept all the same.
    await strongroom.sql('delete from secret where id = $1', [password]);
    expect(await admin.post(`${SECRETS}/PASSWORD`, { ...app, secretValue: 'x' })).toBeError(409, 'SECRET_KEY_TAKEN');
    const rename = await admin.patch(`${SECRETS}/PLAIN`, { ...app, newSecretName: 'PASSWORD' });
    expect(rename).toBeError(409, 'SECRET_KEY_TAKEN');
    const secrets = [{ secretKey: 'PASSWORD', secretValue: 'x' }];
    const upsert = await admin.patch(`${SECRETS}/batch`, { ...app, mode: 'upsert', secrets });
    expect(upsert).toBeError(409, 'SECRET_KEY_TAKEN');
    const file = { ...app, format: 'dotenv', mode: 'skip-existing', content: 'PASSWORD=x\n' };
    expect((await admin.post(`${SECRETS}/import`, file)).body).toMatchObject({ skipped: 1, created: 0 });
  });

  test('keeps its folder from being deleted before it is there', async () => {
    const { admin, folders, user, password, plain } = await seeded();
    await strongroom.sql('delete from secret where id = any($1)', [[user, password, plain]]);
    const refused = await mutate(admin, 'deleteFolder', { id: folders.app }, 'folder { id }');
    expect(refused).toBeError(409, 'ROTATED_SECRET');
  });

  test('has a value that is text: nothing in it is expanded, there or where it is inserted', async () => {
    const scene = await seeded({ PASSWORD: '${PLAIN}$', PLAIN: 'plain' });
    const { admin, app, at, password } = scene;
    mustSucceed(await admin.post(`${SECRETS}/URL`, { ...app, secretValue: 'db://${PASSWORD}@${PLAIN}' }));
    mustSucceed(await admin.post(`${SECRETS}/FAR`, { ...at, secretValue: '<${dev.app.URL}>' }));
    const values = Object.fromEntries(
      (await listed(scene, '/app', 'expandSecretReferences=true')).map((it) => [it.secretKey, it.secretValue]),
    );
    expect(values).toMatchObject({ PASSWORD: '${PLAIN}$', URL: 'db://${PLAIN}$@plain' });
    const far = `${SECRETS}/FAR?projectId=${app.projectId}&environment=dev&expandSecretReferences=true`;
    expect((await admin.get(far)).body.secret.secretValue).toBe('<db://${PLAIN}$@plain>');
    expect((await admin.get(`${SECRETS}/id/${password}?expandSecretReferences=true`)).body.secret.secretValue).toBe(
      '${PLAIN}$',
    );
    // Another secret's new key is carried into references, and leaves text alone.
    mustSucceed(await admin.patch(`${SECRETS}/PASSWORD`, { ...app, secretComment: 'seen' }));
    mustSucceed(await admin.patch(`${SECRETS}/PLAIN`, { ...app, newSecretName: 'BARE' }));
    const after = Object.fromEntries((await listed(scene, '/app')).map((it) => [it.secretKey, it.secretValue]));
    expect(after).toMatchObject({ PASSWORD: '${PLAIN}$', URL: 'db://${PASSWORD}@${BARE}' });
  });

  test('is copied as an ordinary secret, with its project too', async () => {
    const scene = await seeded();
    const { admin, at, project, password } = scene;
    const transfer = { ...transferOf(scene, '/app', '/', [password]), shouldOverwrite: false };
    const [id] = mustSucceed(await admin.post(`${SECRETS}/copy`, transfer)).body.secretIds;
    const ordinary = { isRotatedSecret: false, rotationId: null };
    expect((await admin.get(`${SECRETS}/id/${id}`)).body.secret).toMatchObject({ secretValue: 'old', ...ordinary });
    mustSucceed(await admin.patch(`${SECRETS}/PASSWORD`, { ...at, secretValue: 'mine' }));
    const made = await copied(admin, project.id);
    const query = `projectId=${made.project.id}&environment=dev&secretPath=/app`;
    expect((await admin.get(`${SECRETS}/PASSWORD?${query}`)).body.secret).toMatchObject({
      secretValue: 'old',
      ...ordinary,
    });
  });

  test('follows its folder and its environment under other names', async () => {
    const { admin, project, at, folders, rotationId } = await seeded();
    mustSucceed(
      await mutate(admin, 'updateFolder', { id: folders.app, name: 'shop', newPath: '/to' }, 'folder { id }'),
    );
    const { environments } = (await admin.get(`/api/v1/projects/${project.id}`)).body.project;
    const { id } = environments.find(({ slug }: { slug: string }) => slug === 'dev');
    const renamed = { projectId: project.id, id, slug: 'development' };
    mustSucceed(await mutate(admin, 'updateEnvironment', renamed, 'environment { id }'));
    const place = `projectId=${at.projectId}&environment=development&secretPath=/to/shop`;
    expect((await admin.get(`${SECRETS}/PASSWORD?${place}`)).body.secret).toMatchObject({ rotationId });
  });

  test('is overridden by a value of somebody’s own, which is no rotated one', async () => {
    const { admin, project, app, rotationId } = await seeded();
    const user = await strongroom.seed.user(admin, { project: project.id });
    const own = { ...app, type: 'personal', secretValue: '${PLAIN}!' };
    mustSucceed(await user.post(`${SECRETS}/PASSWORD`, own));
    const query = `projectId=${project.id}&environment=dev&secretPath=/app&expandSecretReferences=true`;
    const shown = (type: string) => user.get(`${SECRETS}/PASSWORD?${query}&type=${type}`);
    expect((await shown('personal')).body.secret).toMatchObject({
      secretValue: 'old!',
      isRotatedSecret: false,
      rotationId: null,
    });
    expect((await shown('shared')).body.secret).toMatchObject({ secretValue: 'old', rotationId });
  });

  test('is no obstacle to deleting its project', async () => {
    const { admin, project, rotationId } = await seeded();
    mustSucceed(await admin.delete(`/api/v1/projects/${project.id}`));
    for (const table of ['secret', 'secret_rotation_key'])
      expect(await strongroom.sql(`select from ${table} where rotation_id = $1`, [rotationId])).toEqual([]);
  });
});
