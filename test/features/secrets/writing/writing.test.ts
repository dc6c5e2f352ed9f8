import { type Caller, useSharedStrongroom } from '../../../kit/strongroom.js';

const list = async (caller: Caller, projectId: string, secretPath = '/') =>
  (await caller.get(`/api/v4/secrets?projectId=${projectId}&environment=dev&secretPath=${secretPath}`)).body.secrets;

const detailsOf = (reply: { body: { details?: { path: string; code: string }[] } }): string[] =>
  (reply.body.details ?? []).map(({ path, code }) => `${path} ${code}`).sort();

describe('writing secrets', () => {
  const strongroom = useSharedStrongroom();

  async function seeded() {
    const { admin, project } = await strongroom.seed.project();
    const at = { projectId: project.id, environment: 'dev', secretPath: '/' };
    const { tag } = (await admin.post(`/api/v1/projects/${project.id}/tags`, { slug: 'db', color: 'red' })).body;
    return { admin, project, at, tagId: tag.id as string };
  }

  test('keeps everything that is given, to the byte, and reads it back by key and by id', async () => {
    const { admin, project, at, tagId } = await seeded();
    const secretValue = ' "quoted" \u0001 # \u{1f511}\r\n';
    const given = {
      secretValue,
      secretComment: 'line\nline',
      secretReminderNote: 'renew',
      secretReminderRepeatDays: 30,
      skipMultilineEncoding: true,
      secretMetadata: [{ key: 'a', value: 'open' }, { key: 'b', value: 'sealed', isEncrypted: true }, { key: 'c' }],
    };
    const created = await admin.post('/api/v4/secrets/%C3%84%20KEY.1', {
      ...at,
      ...given,
      tagIds: [tagId, tagId],
      type: 'shared',
    });
    expect(created.status).toBe(200);
    const wanted = {
      ...given,
      secretKey: 'Ä KEY.1',
      version: 1,
      tags: [{ id: tagId, slug: 'db', name: 'db', color: 'red' }],
      secretMetadata: [
        { key: 'a', value: 'open', isEncrypted: false },
        { key: 'b', value: 'sealed', isEncrypted: true },
        { key: 'c', value: '', isEncrypted: false },
      ],
    };
    expect(created.body.secret).toMatchObject(wanted);
    expect((await list(admin, project.id))[0]).toEqual(created.body.secret);
    const place = `projectId=${project.id}&environment=dev`;
    expect((await admin.get(`/api/v4/secrets/%C3%84%20KEY.1?${place}`)).body).toEqual(created.body);
    expect((await admin.get(`/api/v4/secrets/id/${created.body.secret.id}`)).body).toEqual(created.body);
    const stored = await strongroom.sql('select * from secret where id = $1', [created.body.secret.id]);
    expect(JSON.stringify(stored)).not.toContain('"sealed"');
  });

  test('takes a value of 512 KiB', async () => {
    const { admin, project, at } = await seeded();
    const secretValue = 'x'.repeat(512 * 1024);
    expect((await admin.post('/api/v4/secrets/BIG', { ...at, secretValue })).status).toBe(200);
    expect((await list(admin, project.id))[0].secretValue).toBe(secretValue);
    expect(await admin.post('/api/v4/secrets/BIGGER', { ...at, secretValue: `${secretValue}x` })).toBeError(
      422,
      'VALIDATION_FAILED',
    );
  });

  test('on update keeps what is absent, clears what is null, and raises the version by one', async () => {
    const { admin, at, tagId } = await seeded();
    const secretMetadata = [{ key: 'k', value: 'v', isEncrypted: true }];
    await admin.post('/api/v4/secrets/A', {
      ...at,
      secretValue: 'one',
      secretComment: 'c',
      secretMetadata,
      tagIds: [tagId],
    });
    const renamed = await admin.patch('/api/v4/secrets/A', { ...at, newSecretName: 'B' });
    expect(renamed.body.secret).toMatchObject({
      version: 2,
      secretKey: 'B',
      secretValue: 'one',
      secretComment: 'c',
      secretMetadata,
    });
    expect(renamed.body.secret.tags).toHaveLength(1);
    const cleared = await admin.patch('/api/v4/secrets/B', {
      ...at,
      secretValue: '',
      secretComment: null,
      secretMetadata: null,
      tagIds: null,
    });
    expect(cleared.body.secret).toMatchObject({
      version: 3,
      secretValue: '',
      secretComment: '',
      secretMetadata: [],
      tags: [],
    });
    expect(await admin.patch('/api/v4/secrets/B', { ...at, secretValue: null })).toBeError(422, 'VALIDATION_FAILED');
    expect(await admin.patch('/api/v4/secrets/A', { ...at, secretValue: 'x' })).toBeError(404, 'SECRET_NOT_FOUND');
  });

  test('is refused with SECRET_KEY_TAKEN for a key that the folder has, by create and by rename', async () => {
    const { admin, project, at } = await seeded();
    await admin.post('/api/v4/secrets/A', { ...at, secretValue: 'one' });
    await admin.post('/api/v4/secrets/B', at);
    expect(await admin.post('/api/v4/secrets/A', { ...at, secretValue: 'two' })).toBeError(409, 'SECRET_KEY_TAKEN');
    expect(await admin.patch('/api/v4/secrets/B', { ...at, newSecretName: 'A' })).toBeError(409, 'SECRET_KEY_TAKEN');
    expect((await list(admin, project.id))[0]).toMatchObject({ secretKey: 'A', secretValue: 'one', version: 1 });
    const both = await Promise.all(
      [1, 2].map((n) => admin.post('/api/v4/secrets/RACE', { ...at, secretValue: `${n}` })),
    );
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
  });

  test('in a batch with one fault changes nothing, and names all faults', async () => {
    const { admin, project, at } = await seeded();
    const many = Array.from({ length: 100 }, (_, index) => ({
      secretKey: `K${String(index).padStart(3, '0')}`,
      secretValue: 'v',
    }));
    const shapes = await admin.post('/api/v4/secrets/batch', {
      ...at,
      secrets: [...many, { secretKey: 'a=b' }, { secretKey: 'X', secretValue: 1 }, { secretKey: 'Y', secretVlaue: 1 }],
    });
    expect(shapes).toBeError(422, 'VALIDATION_FAILED');
    expect(detailsOf(shapes)).toEqual([
      'body.secrets[100].secretKey INVALID',
      'body.secrets[101].secretValue INVALID_TYPE',
      'body.secrets[102] UNKNOWN_KEY',
    ]);
    const twice = await admin.post('/api/v4/secrets/batch', { ...at, secrets: [...many, { secretKey: ' K000' }] });
    expect(twice).toBeError(422, 'VALIDATION_FAILED');
    expect(detailsOf(twice)).toEqual(['body.secrets[100].secretKey DUPLICATE']);
    const tags = await admin.post('/api/v4/secrets/batch', {
      ...at,
      secrets: [...many, { secretKey: 'T', tagIds: [project.id, 'no'] }],
    });
    expect(tags).toBeError(404, 'TAG_NOT_FOUND');
    expect(detailsOf(tags)).toEqual([
      'body.secrets[100].tagIds[0] TAG_NOT_FOUND',
      'body.secrets[100].tagIds[1] TAG_NOT_FOUND',
    ]);
    expect(await list(admin, project.id)).toEqual([]);
    await admin.post('/api/v4/secrets/batch', { ...at, secrets: [{ secretKey: 'K001' }, { secretKey: 'K003' }] });
    const taken = await admin.post('/api/v4/secrets/batch', { ...at, secrets: many });
    expect(taken).toBeError(409, 'SECRET_KEY_TAKEN');
    expect(detailsOf(taken)).toEqual([
      'body.secrets[1].secretKey SECRET_KEY_TAKEN',
      'body.secrets[3].secretKey SECRET_KEY_TAKEN',
    ]);
    const unknown = [{ secretKey: 'K001', secretValue: 'new' }, { secretKey: 'NO' }, { secretKey: 'NOPE' }];
    const missing = await admin.patch('/api/v4/secrets/batch', { ...at, secrets: unknown });
    expect(missing).toBeError(404, 'SECRET_NOT_FOUND');
    expect(detailsOf(missing)).toEqual([
      'body.secrets[1].secretKey SECRET_NOT_FOUND',
      'body.secrets[2].secretKey SECRET_NOT_FOUND',
    ]);
    const deletion = await admin.delete('/api/v4/secrets/batch', {
      ...at,
      secrets: [{ secretKey: 'K001' }, { secretKey: 'NO' }],
    });
    expect(deletion).toBeError(404, 'SECRET_NOT_FOUND');
    expect(
      (await list(admin, project.id)).map((it: { secretKey: string; version: number }) => [it.secretKey, it.version]),
    ).toEqual([
      ['K001', 1],
      ['K003', 1],
    ]);
  });

  test('of 100 secrets takes as many statements as of 10, and one audit row', async () => {
    const { admin, at, tagId } = await seeded();
    const batch = (prefix: string, length: number) =>
      Array.from({ length }, (_, index) => ({ secretKey: `${prefix}${index}`, secretValue: 'v', tagIds: [tagId] }));
    const changes = (prefix: string, length: number) =>
      batch(prefix, length).map((it) => ({ ...it, secretValue: 'w' }));
    await admin.post('/api/v4/secrets/batch', { ...at, secrets: batch('WARM', 400) });
    const counts: number[][] = [];
    for (const [prefix, length] of [
      ['A', 10],
      ['B', 100],
    ] as const) {
      const created = await strongroom.statements(() =>
        admin.post('/api/v4/secrets/batch', { ...at, secrets: batch(prefix, length) }),
      );
      const updated = await strongroom.statements(() =>
        admin.patch('/api/v4/secrets/batch', { ...at, secrets: changes(prefix, length) }),
      );
      const secrets = batch(prefix, length).map(({ secretKey }) => ({ secretKey }));
      const deleted = await strongroom.statements(() => admin.delete('/api/v4/secrets/batch', { ...at, secrets }));
      expect([created, updated, deleted].map(({ result }) => [result.status, result.body.secrets.length])).toEqual([
        [200, length],
        [200, length],
        [200, length],
      ]);
      const rows = await strongroom.auditRows('request_id = any($1::uuid[])', [
        [created, updated, deleted].map(({ result }) => result.headers['x-request-id']),
      ]);
      expect(rows.map(({ action }) => action)).toEqual(['secret:create', 'secret:update', 'secret:delete']);
      expect(rows[0]?.facts.secretIds).toHaveLength(length);
      counts.push([created.count, updated.count, deleted.count]);
    }
    // A block of a thousand seals may run out in between, which is one statement more.
    const [ofTen = [], ofHundred = []] = counts;
    for (const [index, count] of ofHundred.entries()) {
      expect(Math.abs(count - Number(ofTen[index]))).toBeLessThanOrEqual(1);
      expect(count).toBeLessThanOrEqual(14);
    }
  });

  test('by two at once makes versions 2 and 3, and loses neither', async () => {
    const { admin, project, at } = await seeded();
    await admin.post('/api/v4/secrets/A', { ...at, secretValue: 'one', secretComment: 'c' });
    const replies = await Promise.all([
      admin.patch('/api/v4/secrets/A', { ...at, secretValue: 'two' }),
      admin.patch('/api/v4/secrets/A', { ...at, secretComment: 'd' }),
    ]);
    expect(replies.map(({ body }) => body.secret.version).sort()).toEqual([2, 3]);
    expect((await list(admin, project.id))[0]).toMatchObject({ version: 3, secretValue: 'two', secretComment: 'd' });
    const many = await Promise.all(
      Array.from({ length: 20 }, () =>
        admin.patient.patch('/api/v4/secrets/A', { ...at, skipMultilineEncoding: true }),
      ),
    );
    expect(many.map(({ body }) => body.secret?.version).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 20 }, (_, index) => index + 4),
    );
  });

  test('of unencrypted metadata is refused where the project wants it encrypted', async () => {
    const { admin, project, at } = await seeded();
    await admin.patch(`/api/v1/projects/${project.id}`, { enforceEncryptedSecretManagerSecretMetadata: true });
    const secretMetadata = [
      { key: 'a', value: 'x' },
      { key: 'b', value: 'y', isEncrypted: true },
    ];
    const refused = await admin.post('/api/v4/secrets/A', { ...at, secretMetadata });
    expect(refused).toBeError(422, 'VALIDATION_FAILED');
    expect(detailsOf(refused)).toEqual(['body.secretMetadata[0].isEncrypted ENCRYPTION_REQUIRED']);
    expect((await admin.post('/api/v4/secrets/A', { ...at, secretMetadata: secretMetadata.slice(1) })).status).toBe(
      200,
    );
  });

  test('is for members who may: a viewer gets 403, a stranger 404, and nothing changes', async () => {
    const { admin, project, at } = await seeded();
    const created = await admin.post('/api/v4/secrets/A', { ...at, secretValue: 'one' });
    const viewer = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['viewer'] });
    const { admin: foreign } = await strongroom.seed.project();
    for (const [caller, status, code] of [
      [viewer, 403, 'PERMISSION_DENIED'],
      [foreign, 404, 'PROJECT_NOT_FOUND'],
    ] as const) {
      expect(await caller.post('/api/v4/secrets/B', at)).toBeError(status, code);
      expect(await caller.patch('/api/v4/secrets/A', { ...at, secretValue: 'two' })).toBeError(status, code);
      expect(await caller.delete('/api/v4/secrets/A', at)).toBeError(status, code);
    }
    expect(await foreign.get(`/api/v4/secrets/id/${created.body.secret.id}`)).toBeError(404, 'SECRET_NOT_FOUND');
    expect(await foreign.get('/api/v4/secrets/id/no-uuid')).toBeError(404, 'SECRET_NOT_FOUND');
    expect(await list(admin, project.id)).toEqual([created.body.secret]);
  });

  test('works the same by GraphQL', async () => {
    const { admin, project, at } = await seeded();
    const { createSecrets } = await admin.data(
      `mutation ($input: CreateSecretsInput!) { createSecrets(input: $input) { secrets { secretKey secretValue type actor { actorType } } } }`,
      { input: { ...at, secrets: [{ secretKey: 'Z', secretValue: '1' }, { secretKey: 'A' }] } },
    );
    expect(createSecrets.secrets).toEqual([
      { secretKey: 'Z', secretValue: '1', type: 'SHARED', actor: { actorType: 'IDENTITY' } },
      { secretKey: 'A', secretValue: '', type: 'SHARED', actor: { actorType: 'IDENTITY' } },
    ]);
    const { updateSecretByKey } = await admin.data(
      `mutation ($input: UpdateSecretByKeyInput!) { updateSecretByKey(input: $input) { secret { secretKey version } } }`,
      { input: { ...at, secretKey: 'A', newSecretKey: 'B' } },
    );
    expect(updateSecretByKey.secret).toEqual({ secretKey: 'B', version: 2 });
    const { deleteSecretByKey } = await admin.data(
      `mutation ($input: DeleteSecretByKeyInput!) { deleteSecretByKey(input: $input) { secret { secretKey } } }`,
      { input: { ...at, secretKey: 'B' } },
    );
    expect(deleteSecretByKey.secret).toEqual({ secretKey: 'B' });
    const { secretByKey } = await admin.data(
      `query ($p: ID!) { secretByKey(projectId: $p, environment: "dev", secretKey: "Z") { id secretValue } }`,
      { p: project.id },
    );
    expect(await admin.data(`query ($id: ID!) { secret(id: $id) { secretValue } }`, { id: secretByKey.id })).toEqual({
      secret: { secretValue: '1' },
    });
  });
});
