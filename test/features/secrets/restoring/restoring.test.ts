import { fullSecret } from '../../../kit/full-secret.js';
import { type Caller, useSharedStrongroom } from '../../../kit/strongroom.js';

const HISTORY = '/api/v1/secrets';

// biome-ignore lint/suspicious/noExplicitAny: replies of every shape
type Json = any;

describe('restoring a secret', () => {
  const strongroom = useSharedStrongroom();

  async function seeded() {
    const { admin, project } = await strongroom.seed.project();
    const at = { projectId: project.id, environment: 'dev', secretPath: '/app' };
    await admin.post('/api/v2/folders', { projectId: project.id, environment: 'dev', name: 'app' });
    const { tag } = (await admin.post(`/api/v1/projects/${project.id}/tags`, { slug: 'db', color: 'red' })).body;
    const old = await admin.post('/api/v4/secrets/A', { ...at, ...fullSecret(tag.id) });
    await admin.patch('/api/v4/secrets/A', {
      ...at,
      newSecretName: 'B',
      secretValue: 'two',
      secretComment: null,
      secretMetadata: null,
      tagIds: null,
      skipMultilineEncoding: false,
      secretReminderNote: null,
      secretReminderRepeatDays: null,
    });
    return {
      admin,
      project,
      at,
      tagId: tag.id as string,
      old: old.body.secret as Json,
      id: old.body.secret.id as string,
    };
  }

  const restore = (caller: Caller, id: string, version: number) => caller.post(`${HISTORY}/${id}/restore`, { version });
  const byId = async (caller: Caller, id: string) => (await caller.get(`/api/v4/secrets/id/${id}`)).body.secret;

  test('gives it everything that it was, as a new version', async () => {
    const { admin, old, id } = await seeded();
    const restored = await restore(admin, id, 1);
    expect(restored.status).toBe(200);
    expect(restored.body).toEqual({
      secret: { ...old, version: 3, updatedAt: expect.any(String) },
      leftOutTagIds: [],
    });
    expect(await byId(admin, id)).toEqual(restored.body.secret);
    const { secretVersions } = (await admin.get(`${HISTORY}/${id}/versions`)).body;
    expect(secretVersions.map(({ secretValue }: Json) => secretValue)).toEqual(['one', 'two', 'one']);
  });

  test('leaves out tags that are gone, and says which', async () => {
    const { admin, project, id, tagId } = await seeded();
    await admin.delete(`/api/v1/projects/${project.id}/tags/${tagId}`);
    const restored = await restore(admin, id, 1);
    expect(restored.body).toMatchObject({ secret: { tags: [], secretValue: 'one' }, leftOutTagIds: [tagId] });
  });

  test('carries the key back into references of others, and is refused where they cannot name it', async () => {
    const { admin, project, at, id } = await seeded();
    await admin.post('/api/v4/secrets/LOCAL', { ...at, secretValue: 'is ${B}' });
    await admin.post('/api/v4/secrets/FAR', { ...at, secretPath: '/', secretValue: 'is ${dev.app.B}' });
    await restore(admin, id, 1);
    const storedValue = async (secretPath: string, key: string) =>
      (
        await admin.get(
          `/api/v4/secrets/${key}?${new URLSearchParams({ projectId: project.id, environment: 'dev', secretPath, expandSecretReferences: 'false' })}`,
        )
      ).body.secret.secretValue;
    expect(await storedValue('/app', 'LOCAL')).toBe('is ${A}');
    expect(await storedValue('/', 'FAR')).toBe('is ${dev.app.A}');

    const odd = (await admin.post('/api/v4/secrets/odd.key', { ...at, secretValue: 'x' })).body.secret;
    await admin.patch('/api/v4/secrets/odd.key', { ...at, newSecretName: 'EVEN' });
    await admin.post('/api/v4/secrets/USES', { ...at, secretValue: '${EVEN}' });
    expect(await restore(admin, odd.id, 1)).toBeError(409, 'SECRET_REFERENCED');
    expect(await byId(admin, odd.id)).toMatchObject({ secretKey: 'EVEN', version: 2 });
  });

  test('stays in the folder where the secret is, wherever it was then', async () => {
    const { admin, project, id } = await seeded();
    await admin.post('/api/v4/secrets/move', {
      projectId: project.id,
      sourceEnvironment: 'dev',
      sourceSecretPath: '/app',
      destinationEnvironment: 'prod',
      secretIds: [id],
    });
    const { secret } = (await restore(admin, id, 1)).body;
    expect(secret).toMatchObject({
      environment: 'prod',
      secretPath: '/',
      secretKey: 'A',
      secretValue: 'one',
      version: 4,
    });
  });

  test('brings a deleted one back with its id and history, in its folder, which is made again', async () => {
    const { admin, project, at, old, id } = await seeded();
    await admin.delete('/api/v4/secrets/B', at);
    await admin.delete('/api/v2/folders/app', { ...at, path: '/' });
    const restored = await restore(admin, id, 1);
    expect(restored.body.secret).toEqual({
      ...old,
      version: 4,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    expect(await byId(admin, id)).toEqual(restored.body.secret);
    const { secretVersions } = (await admin.get(`${HISTORY}/${id}/versions`)).body;
    expect(secretVersions.map(({ isDeletion }: Json) => isDeletion)).toEqual([false, true, false, false]);
    const { deletedSecrets } = (
      await admin.get(`${HISTORY}/deleted?projectId=${project.id}&environment=dev&recursive=true`)
    ).body;
    expect(deletedSecrets).toEqual([]);
  });

  test('brings one back from a folder that was deleted with all below it, and makes them all again', async () => {
    const { admin, project, at, id } = await seeded();
    const place = { projectId: project.id, environment: 'dev' };
    await admin.post('/api/v2/folders', { ...place, path: '/app/deep', name: 'deeper' });
    const secretPath = '/app/deep/deeper';
    const { secret } = (await admin.post('/api/v4/secrets/DEEP', { ...place, secretPath, secretValue: 'v' })).body;
    await admin.delete('/api/v2/folders/app', { ...at, path: '/', forceDelete: true });
    expect((await restore(admin, secret.id, 1)).body.secret).toMatchObject({ secretPath, secretValue: 'v' });
    expect((await restore(admin, id, 2)).body.secret).toMatchObject({ secretPath: '/app', secretKey: 'B' });
    const folders = await admin.get(`/api/v2/folders?projectId=${project.id}&environment=dev&path=/app/deep`);
    expect(folders.body.folders.map(({ name }: Json) => name)).toEqual(['deeper']);
  });

  test('is refused with SECRET_KEY_TAKEN when its key is another one now, there or gone', async () => {
    const { admin, at, id } = await seeded();
    await admin.post('/api/v4/secrets/A', { ...at, secretValue: 'other' });
    expect(await restore(admin, id, 1)).toBeError(409, 'SECRET_KEY_TAKEN');
    await admin.delete('/api/v4/secrets/B', at);
    expect(await restore(admin, id, 1)).toBeError(409, 'SECRET_KEY_TAKEN');
    expect((await restore(admin, id, 2)).body.secret).toMatchObject({ secretKey: 'B', version: 4 });
  });

  test('by two at once loses neither', async () => {
    const { admin, at, id } = await seeded();
    await admin.delete('/api/v4/secrets/B', at);
    const both = await Promise.all([restore(admin, id, 2), restore(admin, id, 2)]);
    expect(both.map(({ status }) => status)).toEqual([200, 200]);
    expect(both.map(({ body }) => body.secret.version).sort()).toEqual([4, 5]);
    expect((await byId(admin, id)).version).toBe(5);
  });

  test('of two in the same folder that is gone makes the folder once', async () => {
    const { admin, at, id } = await seeded();
    const { secret } = (await admin.post('/api/v4/secrets/C', { ...at, secretValue: 'c' })).body;
    await admin.delete('/api/v2/folders/app', { ...at, path: '/', forceDelete: true });
    const both = await Promise.all([restore(admin, id, 2), restore(admin, secret.id, 1)]);
    expect(both.map(({ status }) => status)).toEqual([200, 200]);
    expect((await byId(admin, id)).secretPath).toBe('/app');
    expect((await byId(admin, secret.id)).secretPath).toBe('/app');
  });

  test('is refused for a deletion, for a version that is not there, and for one that does not open', async () => {
    const { admin, at, id } = await seeded();
    await admin.delete('/api/v4/secrets/B', at);
    const deletion = await restore(admin, id, 3);
    expect(deletion).toBeError(422, 'VALIDATION_FAILED');
    expect(deletion.body.details).toMatchObject([{ path: 'body.version', code: 'IS_DELETION' }]);
    expect(await restore(admin, id, 4)).toBeError(404, 'SECRET_VERSION_NOT_FOUND');
    await strongroom.sql(
      'update secret_version set value_sealed = comment_sealed where secret_id = $1 and version = 1',
      [id],
    );
    expect(await restore(admin, id, 1)).toBeError(503, 'SEALED_VALUE_INVALID');
    expect(await admin.get(`/api/v4/secrets/id/${id}`)).toBeError(404, 'SECRET_NOT_FOUND');
  });

  test('encrypts all metadata where the project has come to want that', async () => {
    const { admin, project, id } = await seeded();
    await admin.patch(`/api/v1/projects/${project.id}`, { enforceEncryptedSecretManagerSecretMetadata: true });
    const { secret } = (await restore(admin, id, 1)).body;
    expect(secret.secretMetadata).toEqual([
      { key: 'open', value: 'x', isEncrypted: true },
      { key: 'shut', value: 'y', isEncrypted: true },
    ]);
  });
});

describe('the limit of versions', () => {
  const strongroom = useSharedStrongroom();

  const versionsOf = async (caller: Caller, id: string): Promise<number[]> =>
    (await caller.get(`${HISTORY}/${id}/versions`)).body.secretVersions.map(({ version }: Json) => version);

  test('keeps as many as the project says, also when it says less from now on', async () => {
    const { admin, project } = await strongroom.seed.project();
    await admin.patch(`/api/v1/projects/${project.id}`, { pitVersionLimit: 3 });
    const at = { projectId: project.id, environment: 'dev' };
    const { id } = (await admin.post('/api/v4/secrets/A', { ...at, secretValue: '1' })).body.secret;
    for (let write = 2; write <= 10; write += 1)
      await admin.patch('/api/v4/secrets/A', { ...at, secretValue: String(write) });
    expect(await versionsOf(admin, id)).toEqual([10, 9, 8]);
    expect(await admin.get(`${HISTORY}/${id}/versions/7`)).toBeError(404, 'SECRET_VERSION_NOT_FOUND');

    await admin.patch(`/api/v1/projects/${project.id}`, { pitVersionLimit: 2 });
    expect(await versionsOf(admin, id)).toEqual([10, 9, 8]);
    await admin.patch('/api/v4/secrets/A', { ...at, secretValue: '11' });
    expect(await versionsOf(admin, id)).toEqual([11, 10]);

    await admin.delete('/api/v4/secrets/A', at);
    expect(await versionsOf(admin, id)).toEqual([12, 11]);
    await admin.post(`${HISTORY}/${id}/restore`, { version: 11 });
    expect(await versionsOf(admin, id)).toEqual([13, 12]);
    await admin.post(`${HISTORY}/${id}/restore`, { version: 13 });
    expect(await versionsOf(admin, id)).toEqual([14, 13]);
  });
});
