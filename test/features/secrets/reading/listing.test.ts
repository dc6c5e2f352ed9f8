import { type Caller, useSharedStrongroom } from '../../../kit/strongroom.js';

/** The fields of a secret in the interface. */
const FIELDS =
  `_id actor createdAt environment id isRotatedSecret rotationId secretComment secretKey secretMetadata secretPath
  secretReminderNote secretReminderRepeatDays secretValue secretValueHidden skipMultilineEncoding tags type updatedAt version
  workspace`.split(/\s+/);

const query = (parameters: Record<string, string | number | boolean>): string =>
  `/api/v4/secrets?${new URLSearchParams(Object.entries(parameters).map(([name, value]) => [name, String(value)] as [string, string]))}`;

const keysOf = (reply: { body: { secrets: { secretKey: string }[] } }): string[] =>
  reply.body.secrets.map(({ secretKey }) => secretKey);

const makeTag = async (admin: Caller, projectId: string, slug: string): Promise<string> =>
  (await admin.post(`/api/v1/projects/${projectId}/tags`, { slug, color: '#aa0000' })).body.tag.id;

describe('the list of secrets', () => {
  const strongroom = useSharedStrongroom();

  test('has every field of the interface, with null and empty text for what is not there', async () => {
    const { admin, project } = await strongroom.seed.project();
    const at = { projectId: project.id, environment: 'dev' };
    await admin.post('/api/v4/secrets/DB_PASSWORD', { ...at, secretValue: 'correct horse' });
    const reply = await admin.get(query(at));
    expect(reply.status).toBe(200);
    expect(reply.headers['cache-control']).toBe('no-store');
    expect(reply.headers['x-unreadable-values']).toBeUndefined();
    expect(Object.keys(reply.body).sort()).toEqual(['imports', 'secrets']);
    expect(reply.body.imports).toEqual([]);
    const [secret] = reply.body.secrets;
    expect(Object.keys(secret).sort()).toEqual(FIELDS);
    expect(secret).toMatchObject({
      _id: secret.id,
      workspace: project.id,
      environment: 'dev',
      version: 1,
      type: 'shared',
      secretKey: 'DB_PASSWORD',
      secretValue: 'correct horse',
      secretValueHidden: false,
      secretComment: '',
      secretReminderNote: null,
      secretReminderRepeatDays: null,
      skipMultilineEncoding: false,
      isRotatedSecret: false,
      rotationId: null,
      secretPath: '/',
      secretMetadata: [],
      tags: [],
      actor: { actorId: admin.identityId, actorType: 'identity', name: expect.any(String), groupId: null },
    });
    expect(secret.actor.membershipId).toEqual(expect.any(String));
    expect(new Date(secret.createdAt).toISOString()).toBe(secret.createdAt);
  });

  test('is ordered by key, by code points, and pages through the same order', async () => {
    const { admin, project } = await strongroom.seed.project();
    const at = { projectId: project.id, environment: 'dev' };
    const keys = ['b', 'A', 'ä', 'a', 'B', '_', '\u{1f511}', 'a b'];
    await admin.post('/api/v4/secrets/batch', { ...at, secrets: keys.map((secretKey) => ({ secretKey })) });
    const ordered = ['A', 'B', '_', 'a', 'a b', 'b', 'ä', '\u{1f511}'];
    expect(keysOf(await admin.get(query(at)))).toEqual(ordered);
    const paged: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await admin.get(query({ ...at, limit: 3, ...(cursor === undefined ? {} : { cursor }) }));
      paged.push(...keysOf(page));
      cursor = page.body.nextCursor;
    } while (cursor !== undefined);
    expect(paged).toEqual(ordered);
    expect(await admin.get(query({ ...at, cursor: 'nonsense' }))).toBeError(422, 'VALIDATION_FAILED');
    expect(await admin.get(query({ ...at, limit: 0 }))).toBeError(422, 'VALIDATION_FAILED');
  });

  test('names the writer of each secret, whoever wrote the one before it', async () => {
    const { admin, project } = await strongroom.seed.project();
    const at = { projectId: project.id, environment: 'dev' };
    const member = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['member'] });
    const user = await strongroom.seed.user(admin, { project: project.id, projectRoles: ['member'] });
    const writers = [admin, member, user, user, admin, member, admin];
    for (const [index, writer] of writers.entries()) {
      expect((await writer.post(`/api/v4/secrets/K${index}`, at)).status).toBe(200);
    }
    const { secrets } = (await admin.get(query(at))).body;
    for (const [index, secret] of secrets.entries()) {
      const alone = await admin.get(query(at).replace('?', `/K${index}?`));
      expect(secret).toEqual(alone.body.secret);
      const writer = writers[index];
      expect(secret.actor).toMatchObject({
        actorId: writer === user ? user.userId : writer?.identityId,
        actorType: writer === user ? 'user' : 'identity',
        name: expect.any(String),
        membershipId: expect.any(String),
      });
    }
    const page = await admin.get(query({ ...at, limit: 3 }));
    const rest = await admin.get(query({ ...at, cursor: page.body.nextCursor }));
    expect([...page.body.secrets, ...rest.body.secrets]).toEqual(secrets);
  });

  test('shows no values and reads none with viewSecretValue=false', async () => {
    const { admin, project } = await strongroom.seed.project();
    const at = { projectId: project.id, environment: 'dev' };
    await admin.post('/api/v4/secrets/A', { ...at, secretValue: 'v', secretComment: 'shown' });
    const [secret] = (await admin.get(query({ ...at, viewSecretValue: false }))).body.secrets;
    expect(secret).toMatchObject({ secretValue: '<hidden>', secretValueHidden: true, secretComment: 'shown' });
    const { secrets } = await admin.data(
      `query ($p: ID!) { secrets(projectId: $p, environment: "dev", viewSecretValue: false) { nodes { secretValue isSecretValueHidden } } }`,
      { p: project.id },
    );
    expect(secrets.nodes).toEqual([{ secretValue: null, isSecretValueHidden: true }]);
  });

  test('with tagSlugs has the secrets of any of the tags, each once and with all its tags', async () => {
    const { admin, project } = await strongroom.seed.project();
    const at = { projectId: project.id, environment: 'dev' };
    const [a, b, c] = [
      await makeTag(admin, project.id, 'a'),
      await makeTag(admin, project.id, 'b'),
      await makeTag(admin, project.id, 'c'),
    ];
    const secrets = [
      { secretKey: 'AB', tagIds: [b, a] },
      { secretKey: 'AC', tagIds: [a, c] },
      { secretKey: 'C', tagIds: [c] },
      { secretKey: 'NONE' },
    ];
    expect((await admin.post('/api/v4/secrets/batch', { ...at, secrets })).status).toBe(200);
    const found = await admin.get(query({ ...at, tagSlugs: 'a, b,' }));
    expect(keysOf(found)).toEqual(['AB', 'AC']);
    expect(found.body.secrets[1].tags).toEqual([
      { id: a, slug: 'a', name: 'a', color: '#aa0000' },
      { id: c, slug: 'c', name: 'c', color: '#aa0000' },
    ]);
    expect(keysOf(await admin.get(query({ ...at, tagSlugs: 'unknown' })))).toEqual([]);
    expect(keysOf(await admin.get(query({ ...at, tagSlugs: ' ,' })))).toHaveLength(4);
  });

  test('with metadataFilter has the secrets with every pair, exactly, among unencrypted entries', async () => {
    const { admin, project } = await strongroom.seed.project();
    const at = { projectId: project.id, environment: 'dev' };
    const entry = (key: string, value: string, isEncrypted = false) => ({ key, value, isEncrypted });
    const secrets = [
      { secretKey: 'BOTH', secretMetadata: [entry('team', 'core'), entry('tier', '1')] },
      { secretKey: 'ONE', secretMetadata: [entry('team', 'core')] },
      { secretKey: 'CASE', secretMetadata: [entry('team', 'Core')] },
      { secretKey: 'SEALED', secretMetadata: [entry('team', 'core', true)] },
      { secretKey: 'CROSSED', secretMetadata: [entry('team', '1'), entry('tier', 'core')] },
      { secretKey: 'SIGNS', secretMetadata: [entry('a=b', 'c,d|e\\')] },
    ];
    expect((await admin.post('/api/v4/secrets/batch', { ...at, secrets })).status).toBe(200);
    const keysFor = async (metadataFilter: string) => keysOf(await admin.get(query({ ...at, metadataFilter })));
    expect(await keysFor('key=team,value=core')).toEqual(['BOTH', 'ONE']);
    expect(await keysFor('Value = 1 , KEY=tier | key=team,value=core')).toEqual(['BOTH']);
    expect(await keysFor('key=a\\=b,value=c\\,d\\|e\\\\')).toEqual(['SIGNS']);
    const eleven = Array.from({ length: 11 }, (_, index) => `key=k${index},value=v`).join('|');
    for (const wrong of ['key=team', 'key=a,value=b=c', eleven]) {
      expect(await admin.get(query({ ...at, metadataFilter: wrong }))).toBeError(422, 'VALIDATION_FAILED');
    }
  });

  test('names every fault of its parameters at once', async () => {
    const { admin } = await strongroom.seed.project();
    const reply = await admin.get(
      query({
        secretPath: '/a/..',
        recursive: 'yes',
        include_imports: 0,
        viewSecretValue: 1,
        metadataFilter: 'key=a,value=b|x',
        tag: 'y',
      }),
    );
    expect(reply).toBeError(422, 'VALIDATION_FAILED');
    const violations = reply.body.details
      .map(({ path, code }: { path: string; code: string }) => `${path} ${code}`)
      .sort();
    expect(violations).toEqual([
      'query UNKNOWN_KEY',
      'query.environment MISSING',
      'query.include_imports INVALID_VALUE',
      'query.metadataFilter[1] MALFORMED_PAIR',
      'query.projectId MISSING',
      'query.recursive INVALID_VALUE',
      'query.secretPath INVALID_FORMAT',
      'query.viewSecretValue INVALID_VALUE',
    ]);
  });

  test('is empty for an empty folder, and not found for an unknown environment or path', async () => {
    const { admin, project } = await strongroom.seed.project();
    const at = { projectId: project.id, environment: 'dev' };
    expect((await admin.get(query(at))).body).toEqual({ secrets: [], imports: [] });
    expect(await admin.get(query({ ...at, environment: 'nope' }))).toBeError(404, 'ENVIRONMENT_NOT_FOUND');
    expect(await admin.get(query({ ...at, environment: 'NO SLUG!' }))).toBeError(404, 'ENVIRONMENT_NOT_FOUND');
    expect(await admin.get(query({ ...at, secretPath: '/nope/' }))).toBeError(404, 'FOLDER_NOT_FOUND');
  });

  test('is for members who may read secrets: 403 for others, 404 for strangers, 422 in a project of another type', async () => {
    const { admin, project } = await strongroom.seed.project();
    const at = { projectId: project.id, environment: 'dev' };
    await strongroom.seed.secrets(admin, project, 'dev', 2);
    const viewer = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['viewer'] });
    const nobody = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['no-access'] });
    const stranger = await strongroom.seed.caller(admin);
    expect((await viewer.get(query(at))).body.secrets).toHaveLength(2);
    expect(await nobody.get(query(at))).toBeError(403, 'PERMISSION_DENIED');
    expect(await stranger.get(query(at))).toBeError(404, 'PROJECT_NOT_FOUND');
    expect(await admin.get(query({ ...at, projectId: 'no-uuid' }))).toBeError(404, 'PROJECT_NOT_FOUND');
    const certificates = await strongroom.seed.projectOf(admin, { type: 'cert-manager' });
    const refused = await admin.get(query({ ...at, projectId: certificates.id }));
    expect(refused).toBeError(422, 'VALIDATION_FAILED');
    expect(refused.body.details[0]).toMatchObject({ path: 'query.projectId', code: 'WRONG_PROJECT_TYPE' });
  });

  test('of 1,000 secrets with tags and metadata takes at most 6 statements, and one audit row', async () => {
    const { admin, project } = await strongroom.seed.project();
    const tagIds = [await makeTag(admin, project.id, 'a'), await makeTag(admin, project.id, 'b')];
    const secretMetadata = [
      { key: 'team', value: 'core' },
      { key: 'pin', value: '1', isEncrypted: true },
    ];
    await strongroom.seed.secrets(admin.patient, project, 'dev', 1_000, (secret) => ({
      ...secret,
      tagIds,
      secretMetadata,
    }));
    const list = () => admin.get(query({ projectId: project.id, environment: 'dev' }));
    const { result, count } = await strongroom.statements(list);
    expect(result.body.secrets).toHaveLength(1_000);
    expect(result.body.secrets[999]).toMatchObject({ secretValue: 'value-999', tags: [{ slug: 'a' }, { slug: 'b' }] });
    expect(result.body.secrets[999].secretMetadata[1]).toEqual({ key: 'pin', value: '1', isEncrypted: true });
    expect(count).toBeLessThanOrEqual(6);
    const rows = await strongroom.auditRows(`request_id = $1`, [result.headers['x-request-id']]);
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({
      action: 'secret:list',
      outcome: 'allowed',
      project_id: project.id,
      actor_id: admin.identityId,
    });
    expect(rows[0]?.facts).toMatchObject({ count: 1_000, viewedValues: true, unreadable: 0 });
  });

  test('inside of environments inside of projects takes the same statements however many there are', async () => {
    const { admin, project } = await strongroom.seed.project();
    await makeTag(admin, project.id, 'a');
    for (const environment of ['dev', 'prod']) await strongroom.seed.secrets(admin, project, environment, 3);
    await admin.post('/api/v2/folders', { projectId: project.id, environment: 'prod', path: '/', name: 'app' });
    const document = `{ projects { nodes { tags { nodes { slug } } environments { slug folders { nodes { path } } secrets { nodes { secretKey secretValue } } } } } }`;
    await admin.data(document);
    const { result, count } = await strongroom.statements(() => admin.data(document));
    const [dev, staging, prod] = result.projects.nodes[0].environments;
    expect(dev.secrets.nodes[2]).toEqual({ secretKey: 'KEY_00002', secretValue: 'value-2' });
    expect([staging.secrets.nodes, staging.folders.nodes, prod.folders.nodes]).toEqual([[], [], [{ path: '/app' }]]);
    await admin.post(`/api/v1/projects/${project.id}/environments`, { name: 'More', slug: 'more' });
    await strongroom.seed.secrets(admin, project, 'more', 3);
    const more = await strongroom.statements(() => admin.data(document));
    expect(more.result.projects.nodes[0].environments[3].secrets.nodes).toHaveLength(3);
    expect(more.count).toBe(count);
  });
});
