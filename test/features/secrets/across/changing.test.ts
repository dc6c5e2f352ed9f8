import { randomUUID } from 'node:crypto';
import { type Caller, mustSucceed, type Reply } from '../../../kit/caller.js';
import { useSharedStrongroom } from '../../../kit/strongroom.js';

const MUTATION = `mutation ($input: UpdateSecretsByIdInput!) { updateSecretsById(input: $input) {
  isDryRun rewritten
  updates { versionBefore differences secret { id secretKey secretValue isSecretValueHidden secretComment version tags { slug } environmentSlug } }
} }`;

const send = (caller: Caller, secrets: readonly object[], dryRun = false): Promise<Reply> =>
  caller.graphql(MUTATION, { input: { secrets, dryRun } });
const sent = async (caller: Caller, secrets: readonly object[], dryRun = false) =>
  mustSucceed(await send(caller, secrets, dryRun)).body.data.updateSecretsById;
const detailsOf = ({ body }: Reply): { path: string; code: string; message: string }[] =>
  body.errors[0].extensions.details;
const pathsOf = (reply: Reply) => detailsOf(reply).map(({ path }) => path);

describe('changing secrets by their ids', () => {
  const strongroom = useSharedStrongroom();

  const put = async (admin: Caller, projectId: string, values: Record<string, string>, at: object = {}) => {
    const secrets = Object.entries(values).map(([secretKey, secretValue]) => ({ secretKey, secretValue }));
    const place = { projectId, environment: 'dev', secretPath: '/', ...at };
    const { body } = mustSucceed(await admin.post('/api/v4/secrets/batch', { ...place, secrets }));
    return (body.secrets as { id: string }[]).map(({ id }) => id);
  };
  const shown = async (caller: Caller, id: string) =>
    mustSucceed(await caller.get(`/api/v4/secrets/id/${id}`)).body.secret;

  /** Secrets of two projects, three environments and a folder. */
  async function scattered() {
    const { admin } = await strongroom.seed.organization();
    const [one, two] = [await strongroom.seed.projectOf(admin), await strongroom.seed.projectOf(admin)];
    mustSucceed(await admin.post('/api/v2/folders', { projectId: one.id, environment: 'dev', path: '/', name: 'app' }));
    const ids = [
      ...(await put(admin, one.id, { A: 'a' })),
      ...(await put(admin, one.id, { B: 'b' }, { secretPath: '/app' })),
      ...(await put(admin, one.id, { A: 'prod' }, { environment: 'prod' })),
      ...(await put(admin, two.id, { A: 'two' }, { environment: 'staging' })),
    ] as [string, string, string, string];
    return { admin, one, two, ids };
  }

  /** A caller with a role of these rules in a project. */
  async function withRules(admin: Caller, projectId: string, permissions: readonly object[]): Promise<Caller> {
    const slug = `role-${randomUUID().slice(0, 8)}`;
    mustSucceed(await admin.post(`/api/v1/projects/${projectId}/roles`, { slug, name: slug, permissions }));
    return strongroom.seed.caller(admin, { project: projectId, projectRoles: [slug] });
  }

  test('works across folders, environments and projects, in the order given, with one record for each folder', async () => {
    const { admin, one, two, ids } = await scattered();
    const [a, b, prod, other] = ids;
    const changes = [
      { id: other, secretValue: 'new two' },
      { id: b.toUpperCase(), newSecretKey: 'RENAMED', expectedVersion: 1 },
      { id: a, secretComment: 'why' },
      { id: prod, secretValue: 'prod', expectedVersion: null },
    ];
    const reply = await send(admin, changes);
    const { updates, isDryRun, rewritten } = mustSucceed(reply).body.data.updateSecretsById;
    expect({ isDryRun, rewritten }).toEqual({ isDryRun: false, rewritten: 0 });
    expect(updates).toMatchObject([
      { versionBefore: 1, differences: ['VALUE'], secret: { id: other, secretValue: 'new two', version: 2 } },
      { versionBefore: 1, differences: ['KEY'], secret: { id: b, secretKey: 'RENAMED', secretValue: 'b', version: 2 } },
      { versionBefore: 1, differences: ['COMMENT'], secret: { id: a, secretComment: 'why', version: 2 } },
      { versionBefore: 1, differences: [], secret: { id: prod, environmentSlug: 'prod', version: 2 } },
    ]);
    expect(await shown(admin, other)).toMatchObject({ secretValue: 'new two', version: 2 });
    const rows = await strongroom.auditRows('request_id = $1', [reply.headers['x-request-id']]);
    expect(rows.map(({ action }) => action)).toEqual(Array(4).fill('secret:update'));
    expect(rows.map(({ project_id }) => project_id).sort()).toEqual([one.id, one.id, one.id, two.id].sort());
    expect(rows.flatMap(({ facts }) => facts.secretIds).sort()).toEqual([...ids].sort());
  });

  test('does all or nothing, and names every secret that is hidden, unknown or no id, by the same statements', async () => {
    const { admin, ids } = await scattered();
    const theirs = await scattered();
    const refusedWith = (id: string) =>
      strongroom.statements(() =>
        send(admin, [
          { id: ids[0], secretValue: 'x' },
          { id, secretValue: 'x' },
          { id: ids[3], secretValue: 'x' },
          { id: 'none', secretValue: 'x' },
        ]),
      );
    const [hidden, unknown] = [await refusedWith(theirs.ids[1]), await refusedWith(randomUUID())];
    for (const { result } of [hidden, unknown]) {
      expect(result).toBeError(404, 'SECRET_NOT_FOUND');
      expect(pathsOf(result)).toEqual(['input.secrets[1].id', 'input.secrets[3].id']);
    }
    expect(hidden.count).toBe(unknown.count);
    expect(await shown(admin, ids[0])).toMatchObject({ secretValue: 'a', version: 1 });
  });

  test('takes the rights of `updateSecret` for each, and names each secret where they are missing', async () => {
    const { admin, one, two, ids } = await scattered();
    const [a, b, prod, other] = ids;
    const caller = await withRules(admin, one.id, [
      { subject: 'secrets', action: ['describeSecret', 'readValue'] },
      { subject: 'secrets', action: ['edit'], conditions: { secretPath: '/app' } },
    ]);
    expect((await sent(caller, [{ id: b, secretValue: 'x' }])).updates).toHaveLength(1);
    const refused = await send(caller, [
      { id: a, secretValue: 'x' },
      { id: b, secretValue: 'y' },
      { id: prod, secretValue: 'x' },
    ]);
    expect(refused).toBeError(403, 'PERMISSION_DENIED');
    expect(pathsOf(refused)).toEqual(['secrets[0]', 'secrets[2]']);
    expect(await shown(admin, b)).toMatchObject({ secretValue: 'x', version: 2 });
    const viewer = await strongroom.seed.caller(admin, { project: two.id, projectRoles: ['viewer'] });
    expect(await send(viewer, [{ id: other, secretValue: 'x' }])).toBeError(403, 'PERMISSION_DENIED');
    expect(await send(viewer, [{ id: a, secretValue: 'x' }])).toBeError(404, 'SECRET_NOT_FOUND');
    // What it may not refer to in one project it may not write there.
    const narrow = await withRules(admin, one.id, [
      { subject: 'secrets', action: ['describeSecret', 'readValue', 'edit'], conditions: { secretPath: '/app' } },
    ]);
    const referring = await send(narrow, [{ id: b, secretValue: '${prod.A}' }]);
    expect(referring).toBeError(403, 'PERMISSION_DENIED');
    expect(pathsOf(referring)).toEqual(['secrets[0].secretValue']);
  });

  test('refuses all when one is at another version, and names each with its version', async () => {
    const { admin, ids } = await scattered();
    await sent(admin, [{ id: ids[0], secretValue: 'x' }]);
    const refused = await send(admin, [
      { id: ids[0], secretValue: 'y', expectedVersion: 1 },
      { id: ids[1], secretValue: 'y', expectedVersion: 1 },
      { id: ids[3], secretValue: 'y', expectedVersion: 9 },
    ]);
    expect(refused).toBeError(409, 'SECRET_VERSION_DIFFERS');
    expect(detailsOf(refused)).toEqual([
      {
        path: 'input.secrets[0].expectedVersion',
        code: 'SECRET_VERSION_DIFFERS',
        message: 'does not match the version of the secret, which is 2',
      },
      {
        path: 'input.secrets[2].expectedVersion',
        code: 'SECRET_VERSION_DIFFERS',
        message: 'does not match the version of the secret, which is 1',
      },
    ]);
    expect(await shown(admin, ids[1])).toMatchObject({ secretValue: 'b', version: 1 });
  });

  test('lets one of two at once through where both expect the same version', async () => {
    const { admin, ids } = await scattered();
    const attempt = (secretValue: string) =>
      send(
        admin,
        ids.map((id) => ({ id, secretValue, expectedVersion: 1 })),
      );
    const replies = await Promise.all([attempt('one'), attempt('two')]);
    const codes = replies.map(({ body }) => body.errors?.[0].extensions.code ?? 'done').sort();
    expect(codes).toEqual(['SECRET_VERSION_DIFFERS', 'done']);
    const values = await Promise.all(ids.map(async (id) => (await shown(admin, id)).secretValue));
    expect(new Set(values).size).toBe(1);
  });

  test('names all wrong input at once', async () => {
    const { admin, one, two, ids } = await scattered();
    expect(await send(admin, [])).toBeError(422, 'VALIDATION_FAILED');
    const many = Array.from({ length: 501 }, () => ({ id: randomUUID() }));
    expect(await send(admin, many)).toBeError(422, 'VALIDATION_FAILED');
    const twice = await send(admin, [{ id: ids[0] }, { id: ids[1] }, { id: ids[0].toUpperCase() }]);
    expect(pathsOf(twice)).toEqual(['input.secrets[2].id']);
    const wrong = await send(admin, [
      { id: ids[0], newSecretKey: 'a/b' },
      { id: ids[1], expectedVersion: 0 },
    ]);
    expect(pathsOf(wrong)).toEqual(['input.secrets[0].newSecretKey', 'input.secrets[1].expectedVersion']);
    const tag = mustSucceed(await admin.post(`/api/v1/projects/${one.id}/tags`, { slug: 'db', color: '#aa0000' }));
    const tagIds = [tag.body.tag?.id ?? tag.body.id];
    const foreign = await send(admin, [
      { id: ids[3], tagIds },
      { id: ids[0], tagIds },
      { id: ids[1], tagIds: [randomUUID()] },
    ]);
    expect(foreign).toBeError(404, 'TAG_NOT_FOUND');
    expect(pathsOf(foreign).sort()).toEqual(['input.secrets[0].tagIds[0]', 'input.secrets[2].tagIds[0]']);
    expect(two.id).not.toBe(one.id);
  });

  test('gives keys in one go: two may swap theirs, and one that is taken is named', async () => {
    const { admin, one, ids } = await scattered();
    const [c, d] = await put(admin, one.id, { C: 'c', D: 'd' });
    const swapped = await sent(admin, [
      { id: ids[0], newSecretKey: 'C' },
      { id: c, newSecretKey: 'A' },
    ]);
    expect(swapped.updates.map((it: { secret: { secretKey: string } }) => it.secret.secretKey)).toEqual(['C', 'A']);
    const taken = await send(admin, [
      { id: c, newSecretKey: 'D' },
      { id: ids[1], newSecretKey: 'D' },
    ]);
    expect(taken).toBeError(409, 'SECRET_KEY_TAKEN');
    expect(pathsOf(taken)).toEqual(['input.secrets[0].newSecretKey']);
    const repeated = await send(admin, [
      { id: c, newSecretKey: 'E' },
      { id: d, newSecretKey: 'E' },
      { id: ids[1], newSecretKey: 'E' },
    ]);
    expect(repeated).toBeError(422, 'VALIDATION_FAILED');
    expect(pathsOf(repeated)).toEqual(['input.secrets[1].newSecretKey']);
  });

  test('carries new keys into references, of the batch and of others', async () => {
    const { admin, one, ids } = await scattered();
    const [inBatch, beside] = (await put(admin, one.id, { IN: '${dev.app.B} ${A}', BESIDE: '${A}' })) as [
      string,
      string,
    ];
    const changes = [
      { id: ids[0], newSecretKey: 'FIRST' },
      { id: ids[1], newSecretKey: 'SECOND' },
      { id: inBatch, secretComment: 'x' },
    ];
    const dry = await sent(admin, changes, true);
    expect(dry).toMatchObject({ isDryRun: true, rewritten: 1 });
    expect(dry.updates[2].differences).toEqual(['VALUE', 'COMMENT']);
    expect(await shown(admin, beside)).toMatchObject({ secretValue: '${A}', version: 1 });
    expect(await sent(admin, changes)).toMatchObject({ isDryRun: false, rewritten: 1 });
    expect((await shown(admin, inBatch)).secretValue).toBe('${dev.app.SECOND} ${FIRST}');
    expect((await shown(admin, beside)).secretValue).toBe('${FIRST}');
  });

  test('as a dry run writes nothing, shows no value, refuses the same, and leaves records of reads', async () => {
    const { admin, ids } = await scattered();
    const reply = await send(
      admin,
      [
        { id: ids[0], secretValue: 'new', newSecretKey: 'Z' },
        { id: ids[3], secretValue: 'two', secretReminderNote: 'later' },
      ],
      true,
    );
    const { updates } = mustSucceed(reply).body.data.updateSecretsById;
    expect(updates).toMatchObject([
      { versionBefore: 1, differences: ['KEY', 'VALUE'], secret: { secretKey: 'A', secretValue: null, version: 1 } },
      { versionBefore: 1, differences: ['SETTINGS'], secret: { isSecretValueHidden: true, version: 1 } },
    ]);
    const rows = await strongroom.auditRows('request_id = $1', [reply.headers['x-request-id']]);
    expect(rows.map(({ action, disclosed }) => [action, disclosed])).toEqual(
      Array(2).fill(['secret:preview-update', null]),
    );
    expect(await shown(admin, ids[0])).toMatchObject({ secretKey: 'A', secretValue: 'a', version: 1 });
    const refused = await send(admin, [{ id: ids[0], expectedVersion: 2 }], true);
    expect(refused).toBeError(409, 'SECRET_VERSION_DIFFERS');
  });

  test('as a dry run does not tell a guess from the value of who may not read it', async () => {
    const { admin, one, ids } = await scattered();
    const writer = await withRules(admin, one.id, [{ subject: 'secrets', action: ['describeSecret', 'edit'] }]);
    for (const secretValue of ['a', 'wrong'])
      expect((await sent(writer, [{ id: ids[0], secretValue }], true)).updates[0].differences).toEqual(['VALUE']);
    expect((await sent(admin, [{ id: ids[0], secretValue: 'a' }], true)).updates[0].differences).toEqual([]);
  });

  test('takes as many statements for 200 secrets of a project as for two', async () => {
    const { admin, one, two, ids } = await scattered();
    await strongroom.seed.secrets(admin, two, 'prod', 200);
    const { body } = await admin.get(`/api/v4/secrets?projectId=${two.id}&environment=prod`);
    const others = (body.secrets as { id: string }[]).map(({ id }) => id);
    const write = (some: readonly string[], secretValue: string) =>
      strongroom.statements(() =>
        sent(
          admin,
          some.map((id) => ({ id, secretValue })),
        ),
      );
    await write([ids[0], ...others], 'warm');
    const few = await write([ids[0], others[0] as string], 'few');
    const many = await write([...ids, ...others], 'many');
    // Seals are counted in blocks of a thousand, each by one statement.
    expect(many.count - few.count).toBeLessThanOrEqual(2);
    expect(one.id).not.toBe(two.id);
  });
});
