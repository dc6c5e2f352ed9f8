import { createHash, randomUUID } from 'node:crypto';
import { type Caller, mustSucceed } from '../../../kit/caller.js';
import { MAKE_DUE } from '../../../kit/schedules.js';
import { LENIENT, useSharedStrongroom } from '../../../kit/strongroom.js';
import { tableContents } from '../../../kit/tables.js';
import { until } from '../../../kit/until.js';
import { limitsOf } from '../../gateway/limited.js';

const FIND = `query ($input: SecretsWithValueInput!, $first: Int, $after: String) {
  secretsWithValue(input: $input, first: $first, after: $after) {
    isComplete isScanLimitReached pageInfo { hasNextPage endCursor }
    nodes { secretId projectId type version isCurrent environmentSlug secretPath secretKey secret { secretKey } }
  }
}`;
const REPLACE = `mutation ($input: ReplaceValueInput!) { replaceValue(input: $input) {
  updates { versionBefore secret { id secretValue } } leftOut { id secretValue } } }`;
const REST = '/api/v1/secrets/with-value';

interface Hit {
  readonly secretId: string;
  readonly type: string;
  readonly version: number;
  readonly isCurrent: boolean;
  readonly environmentSlug: string;
  readonly secretPath: string;
  readonly secretKey: string;
  readonly secret: { readonly secretKey: string } | null;
}

const strongroom = useSharedStrongroom(LENIENT);

const ask = (caller: Caller, input: object, page: object = {}) => caller.graphql(FIND, { input, ...page });
const find = async (caller: Caller, input: object, page: object = {}) =>
  mustSucceed(await ask(caller, input, page)).body.data.secretsWithValue;
const keysOf = async (caller: Caller, input: object): Promise<string[]> =>
  (await find(caller, input)).nodes
    .map(({ secretKey, environmentSlug, version, isCurrent }: Hit) =>
      [secretKey, environmentSlug, version, ...(isCurrent ? [] : ['former'])].join(' '),
    )
    .sort();

const put = async (admin: Caller, projectId: string, environment: string, values: Record<string, string>) => {
  const secrets = Object.entries(values).map(([secretKey, secretValue]) => ({ secretKey, secretValue }));
  const reply = await admin.post('/api/v4/secrets/batch', { projectId, environment, secretPath: '/', secrets });
  return (mustSucceed(reply).body.secrets as { id: string }[]).map(({ id }) => id);
};
const patch = async (caller: Caller, projectId: string, key: string, changes: object) =>
  mustSucceed(await caller.patch(`/api/v4/secrets/${key}`, { projectId, environment: 'dev', ...changes }));

async function withRules(admin: Caller, projectId: string, permissions: readonly object[]): Promise<Caller> {
  const slug = `role-${randomUUID().slice(0, 8)}`;
  mustSucceed(await admin.post(`/api/v1/projects/${projectId}/roles`, { slug, name: slug, permissions }));
  return strongroom.seed.caller(admin, { project: projectId, projectRoles: [slug] });
}

/** `red` twice in one project and once in another one, where it was also the value of a secret before. */
async function coloured() {
  const { admin } = await strongroom.seed.organization();
  const [one, two] = [await strongroom.seed.projectOf(admin), await strongroom.seed.projectOf(admin)];
  await put(admin, one.id, 'dev', { A: 'red', B: 'blue', E: '' });
  await put(admin, one.id, 'prod', { A: 'red', C: 'Red' });
  await put(admin, two.id, 'dev', { X: 'red', Y: 'red', Z: 'red ' });
  await patch(admin, two.id, 'Y', { secretValue: 'green' });
  return { admin, one, two };
}

describe('secrets with a value', () => {
  test('are found in all projects, to the byte, and former versions only if asked for', async () => {
    const { admin, one, two } = await coloured();
    expect(await keysOf(admin, { value: 'red' })).toEqual(['A dev 1', 'A prod 1', 'X dev 1']);
    expect(await keysOf(admin, { value: 'red', projectIds: [two.id] })).toEqual(['X dev 1']);
    expect(await keysOf(admin, { value: 'nowhere' })).toEqual([]);
    const all = { value: 'red', includeFormerVersions: true };
    expect(await keysOf(admin, all)).toEqual(['A dev 1', 'A prod 1', 'X dev 1', 'Y dev 1 former']);
    await patch(admin, one.id, 'A', { secretComment: 'said' });
    expect(await keysOf(admin, { value: 'red', projectIds: [one.id] })).toEqual(['A dev 2', 'A prod 1']);
    expect(await keysOf(admin, { ...all, projectIds: [one.id] })).toEqual(['A dev 1 former', 'A dev 2', 'A prod 1']);
    const { isComplete, nodes } = await find(admin, all);
    expect(isComplete).toBe(true);
    expect(nodes.every(({ secret }: Hit) => secret !== null)).toBe(true);
  });

  test('are found under their names of now, and versions under those of then, also once a secret is deleted', async () => {
    const { admin, two } = await coloured();
    const all = { value: 'red', includeFormerVersions: true, projectIds: [two.id] };
    await patch(admin, two.id, 'X', { newSecretName: 'RENAMED' });
    mustSucceed(await admin.post('/api/v2/folders', { projectId: two.id, environment: 'dev', name: 'app' }));
    const [hit] = (await find(admin, { value: 'red', projectIds: [two.id] })).nodes;
    expect(hit).toMatchObject({ secretKey: 'RENAMED', version: 2, isCurrent: true });
    const move = { projectId: two.id, sourceEnvironment: 'dev', destinationEnvironment: 'dev' };
    mustSucceed(
      await admin.post('/api/v4/secrets/move', { ...move, destinationSecretPath: '/app', secretIds: [hit.secretId] }),
    );
    const [moved] = (await find(admin, { value: 'red', projectIds: [two.id] })).nodes;
    expect(moved).toMatchObject({ secretId: hit.secretId, secretPath: '/app', version: 3 });
    expect(await keysOf(admin, all)).toEqual([
      'RENAMED dev 2 former',
      'RENAMED dev 3',
      'X dev 1 former',
      'Y dev 1 former',
    ]);
    mustSucceed(
      await admin.delete('/api/v4/secrets/RENAMED', { projectId: two.id, environment: 'dev', secretPath: '/app' }),
    );
    expect(await keysOf(admin, { value: 'red', projectIds: [two.id] })).toEqual([]);
    expect((await find(admin, all)).nodes.filter(({ secret }: Hit) => secret === null)).toHaveLength(3);
    mustSucceed(await admin.post(`/api/v1/secrets/${hit.secretId}/restore`, { version: 3 }));
    expect(await keysOf(admin, { value: 'red', projectIds: [two.id] })).toEqual(['RENAMED dev 5']);
  });

  test('have the stored text as their value: references are not expanded', async () => {
    const { admin, one } = await coloured();
    await put(admin, one.id, 'dev', { R: 'is ${A}' });
    expect(await keysOf(admin, { value: 'is ${A}' })).toEqual(['R dev 1']);
    expect(await keysOf(admin, { value: 'is red' })).toEqual([]);
  });

  test('may be of any length but zero, and of any text', async () => {
    const { admin, one } = await coloured();
    const long = 'x'.repeat(64 * 1024 - 1);
    await put(admin, one.id, 'dev', { LONG: `${long}y`, ODD: 'a\u0001\n"五\u2028', SHORT: '1' });
    expect(await keysOf(admin, { value: `${long}y` })).toEqual(['LONG dev 1']);
    expect(await keysOf(admin, { value: `${long}z` })).toEqual([]);
    expect(await keysOf(admin, { value: 'a\u0001\n"五\u2028' })).toEqual(['ODD dev 1']);
    expect(await keysOf(admin, { value: '1' })).toEqual(['SHORT dev 1']);
    for (const value of ['', 'x'.repeat(512 * 1024 + 1), '\ud800'])
      expect(await ask(admin, { value })).toBeError(422, 'VALIDATION_FAILED');
  });

  test('are those that the caller may read, where they are and as they were, and nothing else shows', async () => {
    const { admin, one, two } = await coloured();
    const viewer = await strongroom.seed.caller(admin, { project: one.id, projectRoles: ['viewer'] });
    expect(await keysOf(viewer, { value: 'red' })).toEqual(['A dev 1', 'A prod 1']);
    expect(await ask(viewer, { value: 'red', projectIds: [two.id] })).toBeError(404, 'PROJECT_NOT_FOUND');
    const powerless = await strongroom.seed.caller(admin, { project: two.id, projectRoles: ['no-access'] });
    expect(await keysOf(powerless, { value: 'red' })).toEqual([]);
    expect(await ask(powerless, { value: 'red', projectIds: [two.id] })).toBeError(403, 'PERMISSION_DENIED');
    const describing = await withRules(admin, two.id, [{ subject: 'secrets', action: ['describeSecret'] }]);
    expect(await keysOf(describing, { value: 'red' })).toEqual([]);
    const ofX = await withRules(admin, two.id, [
      { subject: 'secrets', action: ['describeSecret'] },
      { subject: 'secrets', action: ['readValue'], conditions: { secretName: 'X' } },
    ]);
    const all = { value: 'red', includeFormerVersions: true };
    expect(await keysOf(ofX, all)).toEqual(['X dev 1']);
    // What was X is hidden now, and what is X now was hidden then.
    await patch(admin, two.id, 'X', { newSecretName: 'W' });
    await patch(admin, two.id, 'Y', { newSecretName: 'X' });
    expect(await keysOf(ofX, all)).toEqual([]);
    const ofDev = await withRules(admin, one.id, [
      { subject: 'secrets', action: ['describeSecret', 'readValue'], conditions: { environment: 'dev' } },
    ]);
    expect(await keysOf(ofDev, all)).toEqual(['A dev 1']);
    const other = await coloured();
    expect(await keysOf(other.admin, { value: 'red' })).toEqual(['A dev 1', 'A prod 1', 'X dev 1']);
    expect(await ask(other.admin, { value: 'red', projectIds: [one.id] })).toBeError(404, 'PROJECT_NOT_FOUND');
  });

  test('are personal values only for their owner, who needs no more than to see the secret', async () => {
    const { admin, one } = await coloured();
    const [ada, bob] = [
      await strongroom.seed.user(admin, { project: one.id }),
      await strongroom.seed.user(admin, { project: one.id, projectRoles: ['admin'] }),
    ];
    const place = { projectId: one.id, environment: 'dev', type: 'personal' };
    mustSucceed(await ada.post('/api/v4/secrets/B', { ...place, secretValue: 'mine' }));
    const mine = { value: 'mine', includeFormerVersions: true };
    expect((await find(ada, mine)).nodes).toMatchObject([
      { type: 'PERSONAL', secretKey: 'B', version: 1, isCurrent: true },
    ]);
    for (const caller of [bob, admin]) expect(await keysOf(caller, mine)).toEqual([]);
    mustSucceed(await ada.patch('/api/v4/secrets/B', { ...place, secretValue: 'red' }));
    expect((await find(ada, mine)).nodes).toEqual([]);
    const paged: string[] = [];
    let after: string | null = null;
    for (let more = true; more; ) {
      const page: Awaited<ReturnType<typeof find>> = await find(ada, { value: 'red' }, { first: 1, after });
      paged.push(
        ...page.nodes.map(({ type, secretKey, environmentSlug }: Hit) => `${type} ${secretKey} ${environmentSlug}`),
      );
      ({ hasNextPage: more, endCursor: after } = page.pageInfo);
    }
    expect(paged[0]).toBe('PERSONAL B dev');
    expect(paged.slice(1).sort()).toEqual(['SHARED A dev', 'SHARED A prod']);
  });

  test('page through however many there are, each once, and a cursor is good for its question only', async () => {
    const { admin, project } = await strongroom.seed.project();
    const other = await strongroom.seed.projectOf(admin);
    for (const { id } of [project, other])
      for (const environment of ['dev', 'prod'])
        await put(admin, id, environment, Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`K${n}`, 'same'])));
    for (const includeFormerVersions of [false, true]) {
      const question = { value: 'same', includeFormerVersions };
      const found: Hit[] = [];
      let after: string | null = null;
      for (let more = true; more; ) {
        const page: Awaited<ReturnType<typeof find>> = await find(admin, question, { first: 5, after });
        expect([page.isComplete, page.isScanLimitReached]).toEqual([true, false]);
        found.push(...page.nodes);
        ({ hasNextPage: more, endCursor: after } = page.pageInfo);
        if (more)
          expect(await ask(admin, { ...question, value: 'else' }, { after })).toBeError(422, 'VALIDATION_FAILED');
      }
      expect([found.length, new Set(found.map(({ secretId }) => secretId)).size]).toEqual([36, 36]);
    }
  });

  test('are recorded as reads of each value, without it or its digest in the trail, the log or the response', async () => {
    const { admin, one } = await coloured();
    const value = `canary ${randomUUID()}`;
    const ids = await put(admin, one.id, 'dev', { CANARY_1: value, CANARY_2: value });
    const replies = [
      await ask(admin, { value }, { first: 1 }),
      await admin.post(REST, { value, limit: 1 }),
      await admin.graphql(
        `{ secretsWithValue(input: { value: "${value}", projectIds: ["${randomUUID()}"] }) { isComplete } }`,
      ),
      await admin.post(REST, { value, projectIds: [value] }),
    ];
    const found = await admin.graphql(FIND.replace('secret { secretKey }', ''), { input: { value } });
    const [row, ...others] = await strongroom.auditRows('request_id = $1', [found.headers['x-request-id']]);
    expect(others).toEqual([]);
    expect(row).toMatchObject({
      action: 'secret:find-value',
      project_id: null,
      facts: { count: 2, projects: 1, withFormerVersions: false },
    });
    const disclosed = createHash('sha256');
    const shown: Hit[] = found.body.data.secretsWithValue.nodes;
    for (const { secretId } of shown) disclosed.update(Buffer.from(secretId.replaceAll('-', ''), 'hex'));
    expect(row?.disclosed).toEqual(disclosed.digest());
    expect(shown.map(({ secretId }) => secretId).sort()).toEqual(ids.toSorted());
    const stored = await strongroom.sql<{ digest: Buffer }>('select value_digest as digest from secret where id = $1', [
      ids[0],
    ]);
    const digests = [stored[0]?.digest as Buffer, createHash('sha256').update(value).digest()];
    const secrets = [
      value,
      ...['hex', 'base64', 'base64url'].flatMap((form) =>
        [Buffer.from(value), ...digests].map((bytes) => bytes.toString(form as BufferEncoding)),
      ),
    ];
    const contents = Object.entries(await tableContents(strongroom.databaseUrl)).filter(
      ([table]) => !['secret', 'secret_version'].includes(table),
    );
    const places = [await strongroom.log(), JSON.stringify(contents), ...replies.map(({ text }) => text), found.text];
    for (const secret of secrets) for (const place of places) expect(place.includes(secret)).toBe(false);
  });

  test('take as many statements for five secrets as for thousands', async () => {
    const { admin, project } = await strongroom.seed.project();
    await put(admin, project.id, 'dev', { A: 'few', B: 'few', C: 'few', D: 'few', E: 'few' });
    const count = async (includeFormerVersions: boolean) =>
      (await strongroom.statements(() => find(admin.patient, { value: 'few', includeFormerVersions }))).count;
    const few = [await count(false), await count(true)];
    await strongroom.seed.secrets(admin.patient, project, 'prod', 5_000, (secret) => ({
      ...secret,
      secretValue: 'few',
    }));
    for (let at = 0; at < 3; at += 1) await strongroom.seed.projectOf(admin);
    // The keys of the new projects are read once.
    await find(admin.patient, { value: 'few' });
    expect([await count(false), await count(true)]).toEqual(few);
  });

  test('that former versions of the service wrote are missing with a word, until a job has found their digests', async () => {
    const { admin, one, two } = await coloured();
    const all = { value: 'red', includeFormerVersions: true };
    await strongroom.sql('update secret_version set value_digest = null where project_id = $1', [two.id]);
    expect(await find(admin, { value: 'red' })).toMatchObject({ isComplete: true });
    const missing = await find(admin, all);
    expect([missing.isComplete, missing.nodes.length]).toEqual([false, 2]);
    expect(await find(admin, { ...all, projectIds: [one.id] })).toMatchObject({ isComplete: true });
    // One that does not open stays so.
    await strongroom.sql(
      `update secret_version set value_sealed = overlay(value_sealed placing '\\x00' from 40) where project_id = $1 and key = 'Z'`,
      [two.id],
    );
    await strongroom.sql(MAKE_DUE, ['secrets:digest-values']);
    await until('all to be found', 30_000, async () => (await find(admin, all)).nodes.length === 4);
    expect(await find(admin, all)).toMatchObject({ isComplete: false });
    await strongroom.sql(`delete from secret_version where project_id = $1 and key = 'Z'`, [two.id]);
    expect(await find(admin, all)).toMatchObject({ isComplete: true });
  });

  test('of a project whose key is disabled are missing with a word, and found again after; a rotated key finds the same', async () => {
    const { admin } = await strongroom.seed.organization();
    const KEYS = '/api/v1/organization/keys';
    const { id } = mustSucceed(await admin.post(KEYS, { name: 'own' })).body.organizationKey;
    const [own, other] = [
      await strongroom.seed.projectOf(admin, { kmsKeyId: id }),
      await strongroom.seed.projectOf(admin),
    ];
    for (const project of [own, other]) await put(admin, project.id, 'dev', { A: 'red' });
    const state = async () => {
      const { isComplete, nodes } = await find(admin, { value: 'red', includeFormerVersions: true });
      return [isComplete, nodes.length];
    };
    expect(await state()).toEqual([true, 2]);
    mustSucceed(await admin.post(`${KEYS}/${id}/disable`, {}));
    expect(await state()).toEqual([false, 1]);
    mustSucceed(await admin.post(`${KEYS}/${id}/enable`, {}));
    mustSucceed(await admin.post(`${KEYS}/${id}/rotate`, {}));
    expect(await state()).toEqual([true, 2]);
  });

  test('are found by REST with a body, page by page', async () => {
    const { admin, one } = await coloured();
    const reply = await admin.post(REST, { value: 'red', projectIds: [one.id], limit: 1 });
    expect(mustSucceed(reply).body).toEqual({
      secrets: [
        {
          secretId: expect.any(String),
          projectId: one.id,
          type: 'shared',
          version: 1,
          isCurrent: true,
          environmentId: expect.any(String),
          environment: expect.stringMatching(/dev|prod/),
          secretPath: '/',
          secretKey: 'A',
        },
      ],
      isComplete: true,
      nextCursor: expect.any(String),
    });
    const next = await admin.post(REST, { value: 'red', projectIds: [one.id], cursor: reply.body.nextCursor });
    expect(mustSucceed(next).body.secrets).toHaveLength(1);
    expect(next.body.nextCursor).toBeUndefined();
    expect(await admin.post(REST, { value: '' })).toBeError(422, 'VALIDATION_FAILED');
  });

  test('are limited for an actor, whichever of its tokens it uses, and no more than that pass of a hundred at once', async () => {
    const { admin, project } = await strongroom.seed.project();
    const [id] = await put(admin, project.id, 'dev', { A: 'red' });
    const node = await strongroom.startSecondNode({
      env: { RATE_LIMIT: 'on', RATE_LIMITS: limitsOf({ reads: 1_000, writes: 1_000, lookups: 7 }) },
    });
    try {
      const caller = admin.at(node.url);
      const replies = await Promise.all(
        Array.from({ length: 100 }, (_, at) =>
          at % 2 === 0 ? ask(caller, { value: 'red' }) : caller.post(REST, { value: 'red' }),
        ),
      );
      const refused = replies.filter(({ text }) => text.includes('RATE_LIMITED'));
      expect(replies.length - refused.length).toBe(7);
      const rest = refused.find(({ status }) => status === 429);
      expect(rest).toBeError(429, 'RATE_LIMITED');
      expect(rest?.headers).toMatchObject({ 'ratelimit-policy': '"lookups";q=7;w=60' });
      for (const { headers } of refused) expect(Number(headers['retry-after'])).toBeGreaterThan(0);
      const replacing = (input: object) =>
        caller.graphql(REPLACE, { input: { secretValue: 'x', dryRun: true, ...input } });
      expect(await replacing({ currentValue: 'red' })).toBeError(429, 'RATE_LIMITED');
      expect(mustSucceed(await replacing({ likeSecretId: id })).body.data.replaceValue.updates).toHaveLength(1);
    } finally {
      await node.stop();
    }
  });
});

describe('replacing a value that is given by itself', () => {
  const replace = (caller: Caller, input: object) =>
    caller.graphql(REPLACE, { input: { secretValue: 'new', ...input } });

  test('changes what the caller may edit, names what it may only read, and records what was found', async () => {
    const { admin, one, two } = await coloured();
    const editor = await withRules(admin, one.id, [
      { subject: 'secrets', action: ['describeSecret', 'readValue'] },
      { subject: 'secrets', action: ['edit'], conditions: { environment: 'dev' } },
    ]);
    const preview = await replace(editor, { currentValue: 'red', dryRun: true });
    const { updates, leftOut } = mustSucceed(preview).body.data.replaceValue;
    expect([updates.length, leftOut.length]).toEqual([1, 1]);
    const rows = await strongroom.auditRows('request_id = $1', [preview.headers['x-request-id']]);
    expect(rows.map(({ action, facts }) => [action, facts.count ?? null]).sort()).toEqual([
      ['secret:find-value', 2],
      ['secret:preview-replace', 1],
    ]);
    expect(rows.find(({ action }) => action === 'secret:find-value')?.disclosed).not.toBeNull();
    const done = mustSucceed(await replace(editor, { currentValue: 'red' })).body.data.replaceValue;
    expect(done.updates).toMatchObject([{ versionBefore: 1, secret: { secretValue: 'new' } }]);
    expect(await keysOf(admin, { value: 'red' })).toEqual(['A prod 1', 'X dev 1']);
    const everywhere = mustSucceed(await replace(admin, { currentValue: 'red' })).body.data.replaceValue;
    expect(everywhere.updates).toHaveLength(2);
    expect(await keysOf(admin, { value: 'new', projectIds: [two.id] })).toEqual(['X dev 2']);
    const none = mustSucceed(await replace(admin, { currentValue: 'red' })).body.data.replaceValue;
    expect(none).toEqual({ updates: [], leftOut: [] });
  });

  test('records what was found also where the change is refused', async () => {
    const { admin, one } = await coloured();
    const editor = await withRules(admin, one.id, [
      {
        subject: 'secrets',
        action: ['describeSecret', 'readValue', 'edit'],
        conditions: { environment: 'dev' },
      },
    ]);
    const reply = await replace(editor, { currentValue: 'red', secretValue: '${prod.A}', dryRun: true });
    expect(reply.body.errors[0].extensions.code).toMatch(/^(VALIDATION_FAILED|PERMISSION_DENIED)$/);
    const rows = await strongroom.auditRows('request_id = $1', [reply.headers['x-request-id']]);
    expect(rows.find(({ action }) => action === 'secret:find-value')).toMatchObject({
      facts: { count: 1 },
      disclosed: expect.anything(),
    });
  });

  test('takes either a value or a secret, and no empty value', async () => {
    const { admin } = await coloured();
    const id = randomUUID();
    for (const input of [{}, { currentValue: 'red', likeSecretId: id }, { currentValue: '' }])
      expect(await replace(admin, input)).toBeError(422, 'VALIDATION_FAILED');
    const viewer = await strongroom.seed.caller(admin, {
      project: (await strongroom.seed.projectOf(admin)).id,
      projectRoles: ['viewer'],
    });
    expect(await replace(viewer, { currentValue: 'red' })).toBeError(403, 'PERMISSION_DENIED');
  });
});
