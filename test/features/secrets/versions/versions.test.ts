import { fullSecret } from '../../../kit/full-secret.js';
import { type Caller, LENIENT, useSharedStrongroom } from '../../../kit/strongroom.js';

const HISTORY = '/api/v1/secrets';

// biome-ignore lint/suspicious/noExplicitAny: replies of every shape
type Json = any;

const numbersOf = (reply: { body: Json }): number[] =>
  reply.body.secretVersions.map(({ version }: { version: number }) => version);

const strongroom = useSharedStrongroom(LENIENT);

describe('the versions of a secret', () => {
  async function seeded() {
    const { admin, project } = await strongroom.seed.project();
    const at = { projectId: project.id, environment: 'dev', secretPath: '/' };
    const { tag } = (await admin.post(`/api/v1/projects/${project.id}/tags`, { slug: 'db', color: 'red' })).body;
    const first = await admin.post('/api/v4/secrets/A', { ...at, ...fullSecret(tag.id) });
    const id = first.body.secret.id as string;
    await admin.patch('/api/v4/secrets/A', { ...at, secretValue: 'two', newSecretName: 'B' });
    await admin.patch('/api/v4/secrets/B', {
      ...at,
      secretComment: null,
      secretMetadata: [{ key: 'open', value: 'x' }],
      tagIds: null,
      secretReminderNote: null,
    });
    return { admin, project, at, id, tagId: tag.id as string };
  }

  const versions = (caller: Caller, id: string, search = '') => caller.get(`${HISTORY}/${id}/versions${search}`);

  test('are listed newest first, each with what the secret was and who wrote it', async () => {
    const { admin, project, id, tagId } = await seeded();
    const reply = await versions(admin, id);
    expect(reply.status).toBe(200);
    expect(reply.headers['cache-control']).toBe('no-store');
    expect(numbersOf(reply)).toEqual([3, 2, 1]);
    expect(reply.body.secretVersions[2]).toEqual({
      secretId: id,
      workspace: project.id,
      version: 1,
      isDeletion: false,
      environment: 'dev',
      folderId: expect.any(String),
      secretPath: '/',
      secretKey: 'A',
      secretValue: 'one',
      secretValueHidden: false,
      secretComment: 'of one',
      secretReminderNote: 'renew',
      secretReminderRepeatDays: 30,
      secretReminderRecipients: [],
      skipMultilineEncoding: true,
      secretMetadata: [
        { key: 'open', value: 'x', isEncrypted: false },
        { key: 'shut', value: 'y', isEncrypted: true },
      ],
      tags: [{ id: tagId, slug: 'db', name: 'db', color: 'red' }],
      actor: expect.objectContaining({ actorId: admin.identityId, actorType: 'identity' }),
      createdAt: expect.any(String),
      changes: null,
    });
    expect(reply.body.secretVersions[0]).toMatchObject({
      secretKey: 'B',
      secretValue: 'two',
      secretComment: '',
      tags: [],
    });
  });

  test('page in the same order, and open no value unasked', async () => {
    const { admin, id } = await seeded();
    const first = await versions(admin, id, '?limit=2&viewSecretValue=false');
    expect(numbersOf(first)).toEqual([3, 2]);
    expect(first.body.secretVersions[0]).toMatchObject({ secretValue: '<hidden>', secretValueHidden: true });
    const second = await versions(admin, id, `?limit=2&cursor=${first.body.nextCursor}`);
    expect(numbersOf(second)).toEqual([1]);
    expect(second.body.nextCursor).toBeUndefined();
    expect(await versions(admin, id, '?cursor=nonsense')).toBeError(422, 'VALIDATION_FAILED');
    const cursor = Buffer.from('["1e9"]').toString('base64url');
    expect(await versions(admin, id, `?cursor=${cursor}`)).toBeError(422, 'VALIDATION_FAILED');
  });

  test('are read one by one, and one that is not there is SECRET_VERSION_NOT_FOUND', async () => {
    const { admin, id } = await seeded();
    const listed = (await versions(admin, id)).body.secretVersions;
    const single = await admin.get(`${HISTORY}/${id}/versions/2`);
    expect(single.body).toEqual({ secretVersion: listed[1] });
    expect(await admin.get(`${HISTORY}/${id}/versions/4`)).toBeError(404, 'SECRET_VERSION_NOT_FOUND');
    expect(await admin.get(`${HISTORY}/${id}/versions/0`)).toBeError(422, 'VALIDATION_FAILED');
    expect(await admin.get(`${HISTORY}/${id}/versions/x`)).toBeError(422, 'VALIDATION_FAILED');
    expect(await admin.get(`${HISTORY}/${id}/versions/999999999`)).toBeError(404, 'SECRET_VERSION_NOT_FOUND');
  });

  test('are read by place and key too, in the place where the secret is now', async () => {
    const { admin, project, at, id } = await seeded();
    await admin.post('/api/v2/folders', { projectId: project.id, environment: 'dev', name: 'app' });
    await admin.post('/api/v4/secrets/move', {
      projectId: project.id,
      sourceEnvironment: 'dev',
      destinationEnvironment: 'dev',
      destinationSecretPath: '/app',
      secretIds: [id],
    });
    const search = (more: Record<string, string>) => new URLSearchParams({ ...at, secretPath: '/app', ...more });
    const read = (more: Record<string, string>) => admin.get(`/api/v4/secrets/B?${search(more)}`);
    expect((await read({ version: '1' })).body.secret).toMatchObject({
      id,
      version: 1,
      secretKey: 'A',
      secretPath: '/app',
      secretValue: 'one',
      secretComment: 'of one',
    });
    expect((await read({ version: '4' })).body).toEqual((await read({})).body);
    expect((await read({ version: '2', viewSecretValue: 'false' })).body.secret.secretValue).toBe('<hidden>');
    expect(await read({ version: '5' })).toBeError(404, 'SECRET_VERSION_NOT_FOUND');
    const personal = await read({ version: '1', type: 'personal' });
    expect(personal).toBeError(422, 'VALIDATION_FAILED');
    expect(personal.body.details).toMatchObject([{ path: 'query.version', code: 'SHARED_ONLY' }]);
    await admin.delete('/api/v4/secrets/B', { ...at, secretPath: '/app' });
    await admin.post(`${HISTORY}/${id}/restore`, { version: 4 });
    expect(await read({ version: '5' })).toBeError(404, 'SECRET_VERSION_NOT_FOUND');
    expect((await read({ version: '2' })).body.secret.secretValue).toBe('two');
  });

  test('outlive the secret, with a last one that says that it was deleted', async () => {
    const { admin, at, id } = await seeded();
    await admin.delete('/api/v4/secrets/B', at);
    const reply = await versions(admin, id);
    expect(numbersOf(reply)).toEqual([4, 3, 2, 1]);
    expect(reply.body.secretVersions[0]).toMatchObject({
      isDeletion: true,
      secretKey: 'B',
      secretValue: null,
      secretValueHidden: false,
      secretComment: '',
      secretMetadata: [],
    });
    expect(reply.body.secretVersions[3].secretValue).toBe('one');
    expect((await admin.get(`${HISTORY}/${id}/versions/3`)).body.secretVersion.secretValue).toBe('two');
  });

  test('that do not open are withheld in the list and named, and are 503 alone', async () => {
    const { admin, id } = await seeded();
    await strongroom.sql(
      `update secret_version v set value_sealed = o.value_sealed from secret_version o
       where v.secret_id = $1 and o.secret_id = $1 and v.version + o.version = 3`,
      [id],
    );
    const reply = await versions(admin, id);
    expect(reply.headers['x-unreadable-values']).toBe('2');
    expect(reply.body.secretVersions.map(({ secretValue }: Json) => secretValue)).toEqual([
      'two',
      '<hidden>',
      '<hidden>',
    ]);
    const { secretVersions } = await admin.data(
      'query ($id: ID!) { secretVersions(secretId: $id) { readIssues { secretId version reason } } }',
      { id },
    );
    expect(secretVersions.readIssues).toEqual(
      [2, 1].map((version) => ({ secretId: id, version, reason: 'VALUE_DOES_NOT_OPEN' })),
    );
    expect(await admin.get(`${HISTORY}/${id}/versions/1`)).toBeError(503, 'SEALED_VALUE_INVALID');
    expect((await admin.get(`${HISTORY}/${id}/versions/1?viewSecretValue=false`)).status).toBe(200);
  });

  test('are told inside of secrets, of all secrets in one statement and without what is sealed', async () => {
    const { admin, project, at } = await seeded();
    const document = `query ($p: ID!, $first: Int!) { secrets(projectId: $p, environment: "dev") { nodes {
      secretKey versions(first: $first) { nodes { version isDeletion secretKey secretPath environmentSlug tags { slug } actor { actorId } createdAt } } } } }`;
    const read = async (first: number) => (await admin.data(document, { p: project.id, first })).secrets.nodes;
    const [only] = await read(2);
    expect(only.versions.nodes).toEqual([
      expect.objectContaining({ version: 3, secretKey: 'B', tags: [], isDeletion: false, secretPath: '/' }),
      expect.objectContaining({ version: 2, secretKey: 'B', tags: [{ slug: 'db' }], environmentSlug: 'dev' }),
    ]);
    expect(only.versions.nodes[0].actor.actorId).toBe(admin.identityId);
    const one = await strongroom.statements(() => read(5));
    const secrets = Array.from({ length: 50 }, (_, index) => ({ secretKey: `MANY_${index}`, secretValue: 'v' }));
    await admin.post('/api/v4/secrets/batch', { ...at, secrets });
    const many = await strongroom.statements(() => read(5));
    expect(many.result).toHaveLength(51);
    expect(many.result[50].versions.nodes).toHaveLength(1);
    expect(many.count).toBe(one.count);
    const refused = await admin.graphql(document, { p: project.id, first: 1001 });
    expect(refused).toBeError(422, 'VALIDATION_FAILED');
  });

  describe('compared', () => {
    const COMPARE = `query ($id: ID!, $from: Int!, $to: Int!, $view: Boolean = true) {
      compareSecretVersions(secretId: $id, from: $from, to: $to, viewSecretValue: $view) {
        differences changedMetadataKeys from { version secretKey secretValue } to { version secretKey secretValue }
      }
    }`;
    const compared = async (caller: Caller, id: string, from: number, to: number, view = true) =>
      (await caller.data(COMPARE, { id, from, to, view })).compareSecretVersions;

    test('tell which parts differ, with both names, both values and the keys of metadata', async () => {
      const { admin, id } = await seeded();
      expect(await compared(admin, id, 1, 2)).toEqual({
        differences: ['KEY', 'VALUE'],
        changedMetadataKeys: [],
        from: { version: 1, secretKey: 'A', secretValue: 'one' },
        to: { version: 2, secretKey: 'B', secretValue: 'two' },
      });
      expect(await compared(admin, id, 3, 2)).toMatchObject({
        differences: ['COMMENT', 'METADATA', 'TAGS', 'SETTINGS'],
        changedMetadataKeys: ['shut'],
      });
      expect(await compared(admin, id, 2, 2)).toMatchObject({ differences: [], changedMetadataKeys: [] });
      expect(await compared(admin, id, 1, 3, false)).toMatchObject({
        differences: ['KEY', 'VALUE', 'COMMENT', 'METADATA', 'TAGS', 'SETTINGS'],
        from: { secretValue: null },
        to: { secretValue: null },
      });
    });

    test('tell of another place after a move', async () => {
      const { admin, project, id } = await seeded();
      await admin.post('/api/v4/secrets/move', {
        projectId: project.id,
        sourceEnvironment: 'dev',
        destinationEnvironment: 'prod',
        secretIds: [id],
      });
      expect(await compared(admin, id, 3, 4)).toMatchObject({ differences: ['PLACE'] });
    });

    test('are refused for a deletion, a version that is not there, and one that does not open', async () => {
      const { admin, at, id } = await seeded();
      await admin.delete('/api/v4/secrets/B', at);
      const document =
        'query ($id: ID!, $to: Int!) { compareSecretVersions(secretId: $id, from: 1, to: $to) { differences } }';
      const deletion = await admin.graphql(document, { id, to: 4 });
      expect(deletion).toBeError(422, 'VALIDATION_FAILED');
      expect(deletion.body.errors[0].extensions.details).toMatchObject([{ path: 'to', code: 'IS_DELETION' }]);
      expect(await admin.graphql(document, { id, to: 5 })).toBeError(404, 'SECRET_VERSION_NOT_FOUND');
      await strongroom.sql(
        'update secret_version set value_sealed = comment_sealed where secret_id = $1 and version = 2',
        [id],
      );
      expect(await admin.graphql(document, { id, to: 2 })).toBeError(503, 'SEALED_VALUE_INVALID');
    });
  });
});

describe('deleted secrets', () => {
  async function seeded() {
    const { admin, project } = await strongroom.seed.project();
    const at = { projectId: project.id, environment: 'dev' };
    await admin.post('/api/v2/folders', { ...at, name: 'app' });
    for (const [secretPath, secretKey] of [
      ['/', 'A'],
      ['/', 'B'],
      ['/app', 'A'],
    ] as const)
      await admin.post(`/api/v4/secrets/${secretKey}`, {
        ...at,
        secretPath,
        secretValue: `${secretPath} ${secretKey}`,
      });
    const deleted = async (secretPath: string, recursive: boolean, more = {}) =>
      admin.get(
        `${HISTORY}/deleted?${new URLSearchParams({ ...at, secretPath, recursive: String(recursive), ...more })}`,
      );
    return { admin, project, at, deleted };
  }

  const shown = (reply: { body: Json }) =>
    reply.body.deletedSecrets.map(({ secretPath, secretKey, restorableVersion }: Json) => [
      secretPath,
      secretKey,
      restorableVersion,
    ]);

  test('are listed by path and key with the version to restore, and not once they are there again', async () => {
    const { admin, at, deleted } = await seeded();
    expect(shown(await deleted('/', true))).toEqual([]);
    await admin.patch('/api/v4/secrets/A', { ...at, secretValue: 'newer' });
    await admin.delete('/api/v4/secrets/A', at);
    await admin.delete('/api/v4/secrets/A', { ...at, secretPath: '/app' });
    expect(shown(await deleted('/', false))).toEqual([['/', 'A', 2]]);
    const both = await deleted('/', true);
    expect(shown(both)).toEqual([
      ['/', 'A', 2],
      ['/app', 'A', 1],
    ]);
    expect(both.body.deletedSecrets[0]).toEqual({
      secretId: expect.any(String),
      environment: 'dev',
      secretPath: '/',
      secretKey: 'A',
      tags: [],
      restorableVersion: 2,
      deletedAt: expect.any(String),
      actor: expect.objectContaining({ actorId: admin.identityId }),
    });
    const page = await deleted('/', true, { limit: 1 });
    expect(shown(page)).toEqual([['/', 'A', 2]]);
    expect(shown(await deleted('/', true, { limit: 1, cursor: page.body.nextCursor }))).toEqual([['/app', 'A', 1]]);
    expect(await deleted('/', true, { cursor: 'nonsense' })).toBeError(422, 'VALIDATION_FAILED');
  });

  test('are found under the present name of their folder, and under the old one when it is gone', async () => {
    const { admin, at, deleted } = await seeded();
    await admin.delete('/api/v4/secrets/A', { ...at, secretPath: '/app' });
    const { folders } = (await admin.get(`/api/v2/folders?projectId=${at.projectId}&environment=dev`)).body;
    await admin.patch(`/api/v2/folders/${folders[0].id}`, { ...at, name: 'shop' });
    expect(shown(await deleted('/shop', false))).toEqual([['/shop', 'A', 1]]);
    await admin.delete('/api/v2/folders/shop', { ...at, forceDelete: true });
    expect(shown(await deleted('/app', false))).toEqual([['/app', 'A', 1]]);
    expect(shown(await deleted('/app/below', true))).toEqual([]);
  });

  test('of a folder that was deleted with them are there too', async () => {
    const { admin, at, deleted } = await seeded();
    await admin.delete('/api/v2/folders/app', { ...at, forceDelete: true });
    const reply = await deleted('/app', false);
    expect(shown(reply)).toEqual([['/app', 'A', 1]]);
    expect(reply.body.deletedSecrets[0].deletedAt).toEqual(expect.any(String));
  });
});
