import { randomUUID } from 'node:crypto';
import { type Caller, type OtherNode, type Reply, useSharedStrongroom } from '../../kit/strongroom.js';
import { until } from '../../kit/until.js';

const strongroom = useSharedStrongroom();
let other: OtherNode;
beforeAll(async () => {
  other = await strongroom.otherNode();
});

const withKey = (key: string = randomUUID()) => ({ 'idempotency-key': key });
const CREATE_TAG = 'mutation ($input: CreateTagInput!) { createTag(input: $input) { tag { id slug } } }';

async function scene() {
  const { admin, project, organization } = await strongroom.seed.project();
  const tags = `/api/v1/projects/${project.id}/tags`;
  const slugs = async (): Promise<string[]> =>
    (await admin.get(tags)).body.tags.map(({ slug }: { slug: string }) => slug);
  const place = { projectId: project.id, environment: 'dev', secretPath: '/' };
  return { admin, project, organization, tags, slugs, place };
}

const auditOf = ({ headers }: Reply) => strongroom.auditRows('request_id = $1', [headers['x-request-id']]);

/** What is stored of the keys of a caller. */
const stored = ({ identityId }: Caller) =>
  strongroom.sql(
    'select k.* from idempotency_key k join access_token t on t.id = k.token_id where t.identity_id = $1',
    [identityId],
  );

describe('a request with an idempotency key', () => {
  test('that is sent again has no second effect and gets the same answer, and each is in the audit trail', async () => {
    const { admin, place, project } = await scene();
    const key = withKey();
    const send = () => admin.post('/api/v4/secrets/KEY', { ...place, secretValue: 'correct horse' }, key);

    const [first, second, third] = [await send(), await send(), await send()];

    expect(first.status).toBe(200);
    expect(first.headers['idempotency-replayed']).toBeUndefined();
    for (const replay of [second, third]) {
      expect([replay.status, replay.text]).toEqual([200, first.text]);
      expect(replay.headers).toMatchObject({
        'idempotency-replayed': 'true',
        'cache-control': 'no-store',
        'content-type': first.headers['content-type'],
      });
      expect(await auditOf(replay)).toMatchObject([
        {
          action: 'idempotency:replay',
          outcome: 'allowed',
          actor_id: admin.identityId,
          project_id: project.id,
          facts: { actions: ['secret:create'], requestId: first.headers['x-request-id'] },
        },
      ]);
    }
    expect(await auditOf(first)).toMatchObject([{ action: 'secret:create' }]);
    const [secret] = (await admin.get(`/api/v4/secrets?${new URLSearchParams(place)}`)).body.secrets;
    expect(secret).toMatchObject({ id: first.body.secret.id, version: 1 });
  });

  test('may write its body in another order', async () => {
    const { admin, place } = await scene();
    const key = withKey();
    const body = { ...place, secretValue: 'x', secretMetadata: [{ key: 'a', value: 'b' }] };
    const turned = { secretMetadata: [{ value: 'b', key: 'a' }], secretValue: 'x', ...place };

    const first = await admin.post('/api/v4/secrets/KEY', body, key);
    const second = await admin.post('/api/v4/secrets/KEY', turned, key);

    expect([second.status, second.text]).toEqual([200, first.text]);
  });

  test('is refused when it is another request: another body, path or method', async () => {
    const { admin, tags, slugs } = await scene();
    const key = withKey();
    const { tag } = (await admin.post(tags, { slug: 'one', color: '#000000' }, key)).body;

    const replies = [
      await admin.post(tags, { slug: 'two', color: '#000000' }, key),
      await admin.patch(`${tags}/${tag.id}`, { slug: 'one', color: '#000000' }, key),
      await admin.delete(`${tags}/${tag.id}`, undefined, key),
      await admin.graphql(
        'mutation ($id: ID!) { deleteTag(input: { projectId: $id, id: $id }) { __typename } }',
        { id: tag.id },
        key,
      ),
    ];

    for (const reply of replies) expect(reply).toBeError(422, 'IDEMPOTENCY_KEY_REUSED');
    expect(await slugs()).toEqual(['one']);
  });

  test.each([
    ['of 256 characters', 'k'.repeat(256)],
    ['with a blank', 'a b'],
    ['with a character that is not ASCII', 'caf\u00e9'],
  ])('is refused when the key is %s, over REST and over GraphQL', async (_, key) => {
    const { admin, tags, project } = await scene();
    const headers = { 'idempotency-key': key };
    const input = { projectId: project.id, slug: 'db', color: '#000000' };

    for (const reply of [
      await admin.post(tags, { slug: 'db', color: '#000000' }, headers),
      await admin.graphql(CREATE_TAG, { input }, headers),
    ]) {
      expect(reply).toBeError(422, 'VALIDATION_FAILED');
      const { details } = reply.body.errors?.[0].extensions ?? reply.body;
      expect(details).toEqual([
        {
          path: 'header.Idempotency-Key',
          code: 'INVALID_FORMAT',
          message: 'must be 1 to 255 printable ASCII characters',
        },
      ]);
    }
    expect(await admin.post(tags, {}, { 'idempotency-key': '' })).toBeError(422, 'VALIDATION_FAILED');
    expect((await admin.post(tags, { slug: 'db', color: '#000000' }, withKey(`!${'~'.repeat(254)}`))).status).toBe(200);
  });

  test('that is refused leaves its key free, for another request too', async () => {
    const { admin, tags, slugs } = await scene();
    const key = withKey();
    await admin.post(tags, { slug: 'taken', color: '#000000' });

    expect(await admin.post(tags, { slug: 'taken', color: '#000000' }, key)).toBeError(409, 'TAG_SLUG_TAKEN');
    expect(await admin.post(tags, { slug: 'No', color: '#000000' }, key)).toBeError(422, 'VALIDATION_FAILED');
    expect(await admin.post(`${tags.slice(0, -6)}x/tags`, { slug: 'a', color: '#000000' }, key)).toBeError(
      404,
      'PROJECT_NOT_FOUND',
    );
    expect(await stored(admin)).toEqual([]);
    expect((await admin.post(tags, { slug: 'free', color: '#000000' }, key)).status).toBe(200);
    expect(await slugs()).toEqual(['free', 'taken']);
  });

  test('belongs to its token: the same key of two tokens is two', async () => {
    const { admin, project, tags, slugs } = await scene();
    const colleague = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['member'] });
    const key = withKey();

    const replies = [
      await admin.post(tags, { slug: 'one', color: '#000000' }, key),
      await colleague.post(tags, { slug: 'two', color: '#000000' }, key),
    ];

    expect(replies.map(({ status }) => status)).toEqual([200, 200]);
    expect(await slugs()).toEqual(['one', 'two']);
  });

  test('is answered at other nodes, also when the one that did it has ended', async () => {
    const { admin, tags, slugs } = await scene();
    const key = withKey();
    const send = (caller: Caller) => caller.post(tags, { slug: 'one', color: '#000000' }, key);
    const ended = await strongroom.startSecondNode();
    const first = await send(admin.at(ended.url));
    await ended.stop();

    for (const node of [other.url, strongroom.url]) {
      const replay = await send(admin.at(node));
      expect([replay.status, replay.text, replay.headers['idempotency-replayed']]).toEqual([200, first.text, 'true']);
    }
    expect(await slugs()).toEqual(['one']);
  });

  test('is forgotten after its day, though nobody comes with it again', async () => {
    const { admin, tags } = await scene();
    await admin.post(tags, { slug: 'old', color: '#aa0000' }, withKey());
    await admin.post(tags, { slug: 'new', color: '#aa0000' }, withKey());
    const keys = await stored(admin);

    await strongroom.sql(`update idempotency_key set created_at = created_at - interval '24 hours' where id = $1`, [
      keys[0]?.id,
    ]);

    await until('the old key to be forgotten', 25_000, async () => (await stored(admin)).length === 1);
    expect(await stored(admin)).toMatchObject([{ id: keys[1]?.id }]);
  });

  test('is kept for a day', async () => {
    const { admin, tags, slugs } = await scene();
    const key = withKey();
    await admin.post(tags, { slug: 'one', color: '#000000' }, key);
    const age = (interval: string) =>
      strongroom.sql(
        `update idempotency_key k set created_at = k.created_at - $2::interval
         from access_token t where t.id = k.token_id and t.identity_id = $1`,
        [admin.identityId, interval],
      );
    await age('23 hours 59 minutes');
    expect(await admin.post(tags, { slug: 'two', color: '#000000' }, key)).toBeError(422, 'IDEMPOTENCY_KEY_REUSED');

    await age('1 minute');

    expect((await admin.post(tags, { slug: 'two', color: '#000000' }, key)).status).toBe(200);
    expect(await slugs()).toEqual(['one', 'two']);
  });

  test('stores its answer under seal, and the request as a keyed digest', async () => {
    const { admin, place } = await scene();
    const key = withKey('order-4711');
    await admin.post('/api/v4/secrets/KEY', { ...place, secretValue: 'correct horse' }, key);

    const [row] = await stored(admin);

    expect(row?.answer_sealed.length).toBeGreaterThan(100);
    const texts = Object.values(row ?? {}).map((value) =>
      Buffer.isBuffer(value) ? value.toString('latin1') : String(value),
    );
    expect(texts.join(' ')).not.toMatch(/correct horse|order-4711|KEY/);
  });

  test('is not repeated to one whose rights have changed, or whose token is revoked', async () => {
    const { admin, project, place } = await scene();
    const writer = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['member'] });
    const key = withKey();
    const send = () => writer.post('/api/v4/secrets/KEY', { ...place, secretValue: 'correct horse' }, key);
    await send();
    expect((await send()).status).toBe(200);

    const member = `/api/v2/workspace/${project.id}/identity-memberships/${writer.identityId}`;
    await admin.patch(member, { roles: [{ role: 'viewer' }] });
    expect(await send()).toBeError(409, 'IDEMPOTENCY_ANSWER_WITHHELD');
    await admin.delete(member);
    const gone = await send();
    expect(gone).toBeError(409, 'IDEMPOTENCY_ANSWER_WITHHELD');
    expect(gone.text).not.toContain('correct horse');
    await admin.post('/api/v1/auth/token/revoke', { accessToken: writer.token });
    expect(await send()).toBeError(401, 'TOKEN_REVOKED');
  });

  test('of a caller without a token, and of a reading, is not looked at', async () => {
    const { admin, tags } = await scene();
    const holder = await strongroom.seed.caller(admin, { tokenAuth: { accessTokenMaxTTL: 0 } });
    const key = withKey('not a key');

    for (let times = 0; times < 2; times += 1) {
      const body = { accessToken: holder.token };
      expect((await admin.anonymous.post('/api/v1/auth/token/renew', body, key)).status).toBe(200);
      expect((await holder.post('/api/v1/auth/token/renew', body, key)).status).toBe(200);
      expect((await admin.get(tags, key)).status).toBe(200);
      expect((await admin.graphql('{ projects { nodes { id } } }', undefined, key)).status).toBe(200);
    }
  });

  test('can be about the very account of its token', async () => {
    const { admin } = await strongroom.seed.organization();
    const caller = await strongroom.seed.caller(admin, { organizationRole: 'admin' });

    const reply = await caller.delete(`/api/v1/identities/${caller.identityId}`, undefined, withKey());

    expect(reply.status).toBe(200);
  });
});

describe('a mutation with an idempotency key', () => {
  test('has no second effect and gets the same answer', async () => {
    const { admin, project, slugs } = await scene();
    const key = withKey();
    const variables = { input: { projectId: project.id, slug: 'db', color: '#000000' } };

    const [first, second] = [
      await admin.graphql(CREATE_TAG, variables, key),
      await admin.graphql(CREATE_TAG, variables, key),
    ];

    expect(first.body.data.createTag.tag.slug).toBe('db');
    expect([second.status, second.body]).toEqual([200, first.body]);
    expect(second.headers).toMatchObject({ 'idempotency-replayed': 'true', 'cache-control': 'no-store' });
    expect(await auditOf(second)).toMatchObject([{ action: 'idempotency:replay', project_id: project.id }]);
    expect(await slugs()).toEqual(['db']);
    const other = await admin.graphql(CREATE_TAG, { input: { ...variables.input, slug: 'web' } }, key);
    expect(other).toBeError(422, 'IDEMPOTENCY_KEY_REUSED');
    expect(other.status).toBe(422);
  });

  test('that fails leaves its key free', async () => {
    const { admin, project, slugs } = await scene();
    const key = withKey();
    const send = (slug: string) =>
      admin.graphql(CREATE_TAG, { input: { projectId: project.id, slug, color: '#000000' } }, key);

    expect(await send('No')).toBeError(422, 'VALIDATION_FAILED');
    expect(await admin.graphql(CREATE_TAG, { input: 1 }, key)).toBeError(422, 'VALIDATION_FAILED');
    expect((await send('yes')).body.errors).toBeUndefined();
    expect(await slugs()).toEqual(['yes']);
  });

  test('of which one part took effect and another failed is answered the same again, and not repeated', async () => {
    const { admin, project, slugs } = await scene();
    const key = withKey();
    const document = `mutation ($a: CreateTagInput!, $b: CreateTagInput!) {
      a: createTag(input: $a) { tag { id } } b: createTag(input: $b) { tag { id } }
    }`;
    const input = { projectId: project.id, slug: 'db', color: '#000000' };
    const send = () => admin.graphql(document, { a: input, b: input }, key);

    const first = await send();
    expect(first.body.data).toEqual({ a: { tag: { id: expect.any(String) } }, b: null });
    expect(first.body.errors).toMatchObject([{ path: ['b'], extensions: { code: 'TAG_SLUG_TAKEN' } }]);
    const second = await send();
    expect(second.body).toEqual(first.body);
    expect(second.headers['idempotency-replayed']).toBe('true');
    expect(await slugs()).toEqual(['db']);
  });
});

describe('an answer that shows a credential', () => {
  test('is never stored: a retry is told which token was made', async () => {
    const { admin } = await scene();
    const key = withKey();
    const path = `/api/v1/auth/token-auth/identities/${admin.identityId}/tokens`;
    const first = await admin.post(path, {}, key);
    expect(first.body.accessToken).toMatch(/^srt_/);

    const second = await admin.post(path, {}, key);

    expect(second).toBeError(409, 'IDEMPOTENCY_ANSWER_WITHHELD');
    expect(second.body.details).toEqual([{ path: 'answer', code: 'MADE', message: `made ${first.body.tokenData.id}` }]);
    expect(second.text).not.toContain('srt_');
    expect(await stored(admin)).toMatchObject([{ answer_sealed: null, withheld_ids: [first.body.tokenData.id] }]);
  });

  test.each([
    [
      'createPersonalAccessToken',
      'mutation ($id: ID!) { createPersonalAccessToken(input: { userId: $id }) { accessToken tokenData { id } } }',
    ],
    [
      'renewAccessToken',
      'mutation ($token: String!) { renewAccessToken(input: { accessToken: $token }) { accessToken } }',
    ],
  ])('over GraphQL: %s', async (field, document) => {
    const { admin } = await strongroom.seed.organization();
    const { createUser } = await admin.data('mutation { createUser(input: { username: "ada" }) { user { id } } }');
    const holder = await strongroom.seed.caller(admin, { tokenAuth: { accessTokenMaxTTL: 0 } });
    const variables = { id: createUser.user.id, token: holder.token };
    const key = withKey();
    const used = Object.fromEntries(Object.entries(variables).filter(([name]) => document.includes(`$${name}`)));

    const first = await admin.graphql(document, used, key);
    const second = await admin.graphql(document, used, key);

    expect(first.body.data[field].accessToken).toMatch(/^srt_/);
    expect(second).toBeError(409, 'IDEMPOTENCY_ANSWER_WITHHELD');
    expect(second.text).not.toContain('srt_');
    if (field !== 'renewAccessToken') expect(second.text).toContain(first.body.data[field].tokenData.id);
    expect(await stored(admin)).toMatchObject([{ answer_sealed: null }]);
  });

  test('over GraphQL: createOrganization', async () => {
    const key = withKey();
    const document = `mutation ($name: String!) { createOrganization(input: { name: $name }) { organization { id } accessToken } }`;
    const name = `org ${randomUUID()}`;

    const first = await strongroom.admin.graphql(document, { name }, key);
    const second = await strongroom.admin.graphql(document, { name }, key);

    expect(second).toBeError(409, 'IDEMPOTENCY_ANSWER_WITHHELD');
    expect(second.text).toContain(first.body.data.createOrganization.organization.id);
    expect(await strongroom.sql('select 1 from organization where name = $1', [name])).toHaveLength(1);
  });
});
