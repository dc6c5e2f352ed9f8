import { type Caller, useSharedStrongroom } from '../../../kit/strongroom.js';

describe('moving and copying secrets', () => {
  const strongroom = useSharedStrongroom();

  async function seeded() {
    const { admin, project } = await strongroom.seed.project();
    const place = { projectId: project.id, environment: 'dev' };
    for (const name of ['from', 'to']) await admin.post('/api/v2/folders', { ...place, name });
    const { tag } = (await admin.post(`/api/v1/projects/${project.id}/tags`, { slug: 'db', color: 'red' })).body;
    const { secrets } = (
      await admin.post('/api/v4/secrets/batch', {
        ...place,
        secretPath: '/from',
        secrets: [
          { secretKey: 'A', secretValue: 'a', secretComment: 'note', tagIds: [tag.id] },
          { secretKey: 'B', secretValue: 'b', secretMetadata: [{ key: 'k', value: 'v', isEncrypted: true }] },
        ],
      })
    ).body;
    const ids = secrets.map(({ id }: { id: string }) => id) as [string, string];
    const transfer = {
      projectId: project.id,
      sourceEnvironment: 'dev',
      sourceSecretPath: '/from',
      destinationEnvironment: 'prod',
      destinationSecretPath: '/',
      secretIds: ids,
    };
    return { admin, project, place, ids, transfer };
  }

  const listed = async (caller: Caller, projectId: string, environment: string, secretPath = '/') =>
    (await caller.get(`/api/v4/secrets?projectId=${projectId}&environment=${environment}&secretPath=${secretPath}`))
      .body.secrets;

  test('a move takes everything along and leaves nothing behind', async () => {
    const { admin, project, ids, transfer } = await seeded();
    const before = await listed(admin, project.id, 'dev', '/from');
    const moved = await admin.post('/api/v4/secrets/move', transfer);
    expect(moved.body).toEqual({ isSourceUpdated: true, isDestinationUpdated: true, secretIds: ids });
    expect(await listed(admin, project.id, 'dev', '/from')).toEqual([]);
    const after = await listed(admin, project.id, 'prod');
    expect(after).toEqual(
      before.map((secret: object) => ({
        ...secret,
        environment: 'prod',
        secretPath: '/',
        version: 2,
        updatedAt: expect.any(String),
      })),
    );
  });

  test('a copy is a new secret with the same contents', async () => {
    const { admin, project, ids, transfer } = await seeded();
    const before = await listed(admin, project.id, 'dev', '/from');
    const copied = await admin.post('/api/v4/secrets/copy', transfer);
    expect(copied.status).toBe(200);
    expect(copied.body.secretIds).not.toEqual(expect.arrayContaining(ids));
    expect(await listed(admin, project.id, 'dev', '/from')).toEqual(before);
    const after = await listed(admin, project.id, 'prod');
    expect(after.map(({ id }: { id: string }) => id)).toEqual(copied.body.secretIds);
    const contents = ({ secretKey, secretValue, secretComment, tags, secretMetadata }: Record<string, unknown>) => ({
      secretKey,
      secretValue,
      secretComment,
      tags,
      secretMetadata,
    });
    expect(after.map(contents)).toEqual(before.map(contents));
  });

  test('a taken key stops both, wholly, unless it may be replaced', async () => {
    const { admin, project, place, ids, transfer } = await seeded();
    await admin.post('/api/v4/secrets/B', { ...place, environment: 'prod', secretValue: 'old' });
    for (const verb of ['move', 'copy']) {
      const refused = await admin.post(`/api/v4/secrets/${verb}`, transfer);
      expect(refused).toBeError(409, 'SECRET_KEY_TAKEN');
      expect(refused.body.details).toMatchObject([{ path: 'body.secretIds[1]' }]);
    }
    expect(await listed(admin, project.id, 'prod')).toHaveLength(1);
    const replaced = await admin.post('/api/v4/secrets/move', { ...transfer, shouldOverwrite: true });
    expect(replaced.body.secretIds).toEqual(ids);
    const values = (await listed(admin, project.id, 'prod')).map(
      (secret: { secretValue: string }) => secret.secretValue,
    );
    expect(values).toEqual(['a', 'b']);
  });

  test('unknown secrets are named, and the same folder is no destination', async () => {
    const { admin, transfer, ids } = await seeded();
    const unknown = await admin.post('/api/v4/secrets/move', {
      ...transfer,
      secretIds: [ids[0], transfer.projectId, 'x'],
    });
    expect(unknown).toBeError(404, 'SECRET_NOT_FOUND');
    expect(unknown.body.details.map(({ path }: { path: string }) => path)).toEqual([
      'body.secretIds[1]',
      'body.secretIds[2]',
    ]);
    const same = { destinationEnvironment: 'dev', destinationSecretPath: '/from' };
    expect(await admin.post('/api/v4/secrets/copy', { ...transfer, ...same })).toBeError(422, 'VALIDATION_FAILED');
  });

  test('needs the right to write there, and takes a number of statements that does not grow', async () => {
    const { admin, project, transfer } = await seeded();
    const viewer = await strongroom.seed.caller(admin, { project: project.id });
    for (const verb of ['move', 'copy']) {
      expect(await viewer.post(`/api/v4/secrets/${verb}`, transfer)).toBeError(403, 'PERMISSION_DENIED');
    }
    const { count: few } = await strongroom.statements(() => admin.post('/api/v4/secrets/copy', transfer));
    const place = { projectId: project.id, environment: 'dev', name: 'many' };
    await admin.post('/api/v2/folders', place);
    await strongroom.seed.secrets(admin, project, 'dev', 300, undefined, '/many');
    const many = await listed(admin, project.id, 'dev', '/many');
    const secretIds = many.map(({ id }: { id: string }) => id);
    const { count, result } = await strongroom.statements(() =>
      admin.post('/api/v4/secrets/copy', { ...transfer, sourceSecretPath: '/many', secretIds }),
    );
    expect(result.status).toBe(200);
    expect(count).toBeLessThanOrEqual(few + 1);
  });
});

describe('names that change', () => {
  const strongroom = useSharedStrongroom();

  async function seeded() {
    const { admin, project } = await strongroom.seed.project();
    const place = { projectId: project.id, environment: 'dev' };
    await admin.post('/api/v2/folders', { ...place, name: 'db' });
    const { secret } = (await admin.post('/api/v4/secrets/PASS', { ...place, secretPath: '/db', secretValue: 's3' }))
      .body;
    await admin.post('/api/v4/secrets/URL', { ...place, secretPath: '/db', secretValue: 'x:${PASS}@${PASS}' });
    await admin.post('/api/v4/secrets/FAR', {
      ...place,
      environment: 'prod',
      secretValue: '${dev.db.PASS}-${dev.db.OTHER}',
    });
    await admin.post('/api/v4/secrets/PASS', { ...place, environment: 'prod', secretValue: '${PASS2}' });
    const read = async (environment: string, secretPath: string, key: string) =>
      (
        await admin.get(
          `/api/v4/secrets/${key}?projectId=${project.id}&environment=${environment}&secretPath=${secretPath}`,
        )
      ).body.secret;
    return { admin, place, secretId: secret.id as string, read };
  }

  test('are carried into the references of other secrets, as new versions by the service itself', async () => {
    const { admin, place, read } = await seeded();
    const renamed = await admin.patch('/api/v4/secrets/PASS', { ...place, secretPath: '/db', newSecretName: 'PW' });
    expect(renamed.status).toBe(200);
    expect(await read('dev', '/db', 'URL')).toMatchObject({
      secretValue: 'x:${PW}@${PW}',
      version: 2,
      actor: { actorType: 'platform' },
    });
    expect(await read('prod', '/', 'FAR')).toMatchObject({
      secretValue: '${dev.db.PW}-${dev.db.OTHER}',
      version: 2,
    });
    expect(await read('prod', '/', 'PASS')).toMatchObject({ secretValue: '${PASS2}', version: 1 });
  });

  test('are carried along when a secret moves', async () => {
    const { admin, place, secretId, read } = await seeded();
    const moved = await admin.data(
      'mutation ($input: MoveSecretsInput!) { moveSecrets(input: $input) { rewritten } }',
      {
        input: {
          projectId: place.projectId,
          source: { environment: 'dev', secretPath: '/db' },
          destination: { environment: 'staging' },
          secretIds: [secretId],
        },
      },
    );
    expect(moved.moveSecrets.rewritten).toBe(2);
    expect((await read('dev', '/db', 'URL')).secretValue).toBe('x:${staging.PASS}@${staging.PASS}');
    expect((await read('prod', '/', 'FAR')).secretValue).toBe('${staging.PASS}-${dev.db.OTHER}');
  });

  test('must be names that references can have, where there are references', async () => {
    const { admin, place, read } = await seeded();
    const change = { ...place, secretPath: '/db', newSecretName: 'A.B' };
    expect(await admin.patch('/api/v4/secrets/PASS', change)).toBeError(409, 'SECRET_REFERENCED');
    expect((await read('dev', '/db', 'URL')).version).toBe(1);
    expect((await admin.patch('/api/v4/secrets/URL', change)).status).toBe(200);
  });

  test('may be swapped within one batch', async () => {
    const { admin, place, read } = await seeded();
    const secrets = [
      { secretKey: 'PASS', newSecretName: 'URL' },
      { secretKey: 'URL', newSecretName: 'PASS' },
    ];
    expect((await admin.patch('/api/v4/secrets/batch', { ...place, secretPath: '/db', secrets })).status).toBe(200);
    expect((await read('dev', '/db', 'URL')).secretValue).toBe('s3');
    expect((await read('dev', '/db', 'PASS')).secretValue).toBe('x:${URL}@${URL}');
    expect((await read('prod', '/', 'FAR')).secretValue).toBe('${dev.db.URL}-${dev.db.OTHER}');
  });
});
