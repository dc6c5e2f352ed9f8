import { randomUUID } from 'node:crypto';
import { type Caller, mustSucceed, type Reply } from '../../../kit/caller.js';
import { useSharedStrongroom } from '../../../kit/strongroom.js';

const MUTATION = `mutation ($input: ReplaceValueInput!) { replaceValue(input: $input) {
  isDryRun leftOut { id secretValue }
  updates { versionBefore differences secret { id secretValue version } }
} }`;

const send = (caller: Caller, input: object): Promise<Reply> => caller.graphql(MUTATION, { input });
const sent = async (caller: Caller, input: object) => mustSucceed(await send(caller, input)).body.data.replaceValue;
const idsOf = (updates: readonly { secret: { id: string } }[]) => updates.map(({ secret }) => secret.id).sort();
const sorted = (...ids: string[]) => ids.sort();

describe('replacing a value everywhere', () => {
  const strongroom = useSharedStrongroom();

  const put = async (admin: Caller, projectId: string, environment: string, values: Record<string, string>) => {
    const secrets = Object.entries(values).map(([secretKey, secretValue]) => ({ secretKey, secretValue }));
    const { body } = mustSucceed(
      await admin.post('/api/v4/secrets/batch', { projectId, environment, secretPath: '/', secrets }),
    );
    return (body.secrets as { id: string }[]).map(({ id }) => id) as [string, string, string];
  };
  const shown = async (caller: Caller, id: string) =>
    mustSucceed(await caller.get(`/api/v4/secrets/id/${id}`)).body.secret;

  /** `red` twice in one project and once in another one. */
  async function coloured() {
    const { admin } = await strongroom.seed.organization();
    const [one, two] = [await strongroom.seed.projectOf(admin), await strongroom.seed.projectOf(admin)];
    const [a, blue, empty] = await put(admin, one.id, 'dev', { A: 'red', B: 'blue', E: '' });
    const [b] = await put(admin, one.id, 'prod', { A: 'red', C: 'Red' });
    const [c] = await put(admin, two.id, 'dev', { X: 'red', E: '' });
    return { admin, one, two, a, b, c, blue, empty };
  }

  async function withRules(admin: Caller, projectId: string, permissions: readonly object[]): Promise<Caller> {
    const slug = `role-${randomUUID().slice(0, 8)}`;
    mustSucceed(await admin.post(`/api/v1/projects/${projectId}/roles`, { slug, name: slug, permissions }));
    return strongroom.seed.caller(admin, { project: projectId, projectRoles: [slug] });
  }

  test('changes all secrets that have it, to the byte, in all projects, with one record for each folder', async () => {
    const { admin, one, two, a, b, c, blue } = await coloured();
    const reply = await send(admin, { likeSecretId: b.toUpperCase(), secretValue: 'green' });
    const { isDryRun, updates, leftOut } = mustSucceed(reply).body.data.replaceValue;
    expect({ isDryRun, leftOut }).toEqual({ isDryRun: false, leftOut: [] });
    expect(idsOf(updates)).toEqual(sorted(a, b, c));
    for (const update of updates)
      expect(update).toMatchObject({
        versionBefore: 1,
        differences: ['VALUE'],
        secret: { secretValue: 'green', version: 2 },
      });
    for (const id of [a, b, c]) expect(await shown(admin, id)).toMatchObject({ secretValue: 'green', version: 2 });
    expect(await shown(admin, blue)).toMatchObject({ secretValue: 'blue', version: 1 });
    const rows = await strongroom.auditRows('request_id = $1', [reply.headers['x-request-id']]);
    expect(rows.map(({ action, facts }) => [action, facts.leftOut])).toEqual(Array(3).fill(['secret:replace', 0]));
    expect(rows.map(({ project_id }) => project_id).sort()).toEqual([one.id, one.id, two.id].sort());
  });

  test('keeps to the projects that are named', async () => {
    const { admin, two, a, b, c } = await coloured();
    expect(idsOf((await sent(admin, { likeSecretId: a, secretValue: 'x', projectIds: [two.id] })).updates)).toEqual([
      c,
    ]);
    expect(await shown(admin, a)).toMatchObject({ secretValue: 'red', version: 1 });
    // Nothing is left to change there.
    const none = await send(admin, { likeSecretId: b, secretValue: 'y', projectIds: [two.id] });
    expect(mustSucceed(none).body.data.replaceValue).toMatchObject({ updates: [], leftOut: [] });
    const rows = await strongroom.auditRows('request_id = $1', [none.headers['x-request-id']]);
    expect(rows).toMatchObject([{ action: 'secret:replace', project_id: two.id, facts: { count: 0 } }]);
    const other = await coloured();
    expect(await send(admin, { likeSecretId: a, secretValue: 'x', projectIds: [other.one.id] })).toBeError(
      404,
      'PROJECT_NOT_FOUND',
    );
  });

  test('as a dry run tells which would change, without any value, and records a read', async () => {
    const { admin, a, b, c } = await coloured();
    const reply = await send(admin, { likeSecretId: a, secretValue: 'x', dryRun: true });
    const { updates, isDryRun } = mustSucceed(reply).body.data.replaceValue;
    expect(isDryRun).toBe(true);
    expect(idsOf(updates)).toEqual(sorted(a, b, c));
    for (const { secret } of updates) expect(secret).toMatchObject({ secretValue: null, version: 1 });
    expect(await shown(admin, b)).toMatchObject({ secretValue: 'red', version: 1 });
    const rows = await strongroom.auditRows('request_id = $1', [reply.headers['x-request-id']]);
    expect(rows.map(({ action, disclosed }) => [action, disclosed])).toEqual(
      Array(3).fill(['secret:preview-replace', null]),
    );
  });

  test('leaves out what may be read and not edited, and tells nothing of what may not be read', async () => {
    const { admin, one, a, b, c } = await coloured();
    const editor = await withRules(admin, one.id, [
      { subject: 'secrets', action: ['describeSecret', 'readValue'] },
      { subject: 'secrets', action: ['edit'], conditions: { environment: 'dev' } },
    ]);
    const blind = await withRules(admin, one.id, [
      { subject: 'secrets', action: ['describeSecret', 'edit'] },
      { subject: 'secrets', action: ['readValue'], conditions: { environment: 'dev' } },
    ]);
    expect(await sent(editor, { likeSecretId: b, secretValue: 'x', dryRun: true })).toMatchObject({
      updates: [{ secret: { id: a } }],
      leftOut: [{ id: b, secretValue: null }],
    });
    expect(await sent(blind, { likeSecretId: a, secretValue: 'blind' })).toMatchObject({
      updates: [{ secret: { id: a } }],
      leftOut: [],
    });
    expect(await send(blind, { likeSecretId: b, secretValue: 'x' })).toBeError(403, 'PERMISSION_DENIED');
    for (const id of [b, c]) expect(await shown(admin, id)).toMatchObject({ secretValue: 'red', version: 1 });
  });

  test('is refused to who may edit nothing, and hides secrets as unknown ones, by the same statements', async () => {
    const { admin, one, a } = await coloured();
    const theirs = await coloured();
    const viewer = await strongroom.seed.caller(admin, { project: one.id, projectRoles: ['viewer'] });
    expect(await send(viewer, { likeSecretId: a, secretValue: 'x' })).toBeError(403, 'PERMISSION_DENIED');
    const ask = (id: string) => strongroom.statements(() => send(admin, { likeSecretId: id, secretValue: 'x' }));
    const [hidden, unknown] = [await ask(theirs.a), await ask(randomUUID())];
    for (const { result } of [hidden, unknown]) expect(result).toBeError(404, 'SECRET_NOT_FOUND');
    expect(hidden.count).toBe(unknown.count);
    expect(await send(admin, { likeSecretId: 'none', secretValue: 'x' })).toBeError(404, 'SECRET_NOT_FOUND');
  });

  test('refuses an empty value, too long ones, and values of more than 500 secrets', async () => {
    const { admin, two, a, empty } = await coloured();
    const refused = await send(admin, { likeSecretId: empty, secretValue: 'x' });
    expect(refused).toBeError(422, 'VALIDATION_FAILED');
    expect(refused.body.errors[0].extensions.details).toMatchObject([
      { path: 'input.likeSecretId', code: 'EMPTY_VALUE' },
    ]);
    expect(await send(admin, { likeSecretId: a, secretValue: 'x'.repeat(512 * 1024 + 1) })).toBeError(
      422,
      'VALIDATION_FAILED',
    );
    await strongroom.seed.secrets(admin, two, 'prod', 500, (secret) => ({ ...secret, secretValue: 'red' }));
    const many = await send(admin, { likeSecretId: a, secretValue: 'x' });
    expect(many).toBeError(422, 'VALIDATION_FAILED');
    expect(many.body.errors[0].extensions.details).toMatchObject([{ path: 'input.projectIds', code: 'TOO_MANY' }]);
    const { updates } = await sent(admin, {
      likeSecretId: a,
      secretValue: 'x',
      projectIds: [two.id],
      dryRun: true,
    }).catch(() => ({ updates: null }));
    expect(updates).toBeNull();
  });

  test('lets one of two at once win everywhere, and refuses a secret that has just changed', async () => {
    const { admin, a, b, c } = await coloured();
    const replies = await Promise.all(
      ['one', 'two'].map((secretValue) => send(admin, { likeSecretId: a, secretValue })),
    );
    for (const { body } of replies) {
      const code = body.errors?.[0].extensions.code;
      expect([undefined, 'CONCURRENT_CHANGE']).toContain(code);
    }
    const values = await Promise.all([a, b, c].map(async (id) => (await shown(admin, id)).secretValue));
    expect(new Set(values).size).toBe(1);
  });

  test('refuses references that the caller may not write somewhere, and then changes nothing', async () => {
    const { admin, one, a, b } = await coloured();
    const narrow = await withRules(admin, one.id, [
      { subject: 'secrets', action: ['describeSecret', 'readValue', 'edit'], conditions: { environment: 'dev' } },
    ]);
    const refused = await send(narrow, { likeSecretId: a, secretValue: '${prod.A}' });
    expect(refused).toBeError(403, 'PERMISSION_DENIED');
    for (const id of [a, b]) expect(await shown(admin, id)).toMatchObject({ secretValue: 'red', version: 1 });
  });

  test('takes the same statements for three secrets as for hundreds', async () => {
    const { admin, two, a } = await coloured();
    const few = await strongroom.statements(() => sent(admin, { likeSecretId: a, secretValue: 'many' }));
    await strongroom.seed.secrets(admin, two, 'prod', 100, (secret) => ({ ...secret, secretValue: 'many' }));
    const many = await strongroom.statements(() => sent(admin, { likeSecretId: a, secretValue: 'more' }));
    expect(many.result.updates).toHaveLength(103);
    // Seals are counted in blocks of a thousand, each by one statement.
    expect(many.count - few.count).toBeLessThanOrEqual(2);
  });
});
