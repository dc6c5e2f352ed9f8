import { mustSucceed } from '../../kit/caller.js';
import { Caller, type Reply, useSharedStrongroom } from '../../kit/strongroom.js';
import { withoutRecordsOf } from '../../kit/trail.js';
import { exhaust, limitHeadersOf, metricAt, passed, QUOTAS, startLimited } from '../gateway/limited.js';
import { type Filled, fill, LIST } from './kept-scene.js';

const strongroom = useSharedStrongroom();

async function metric(pattern: string): Promise<number> {
  const { text } = await new Caller(strongroom.url, null).get('/metrics');
  return Number(new RegExp(`^${pattern} (\\d+)`, 'm').exec(text)?.[1] ?? 0);
}
const hits = () => metric('strongroom_reply_cache_requests_total\\{result="hit"\\}');

async function filledScene(): Promise<Filled & { organization: { readonly id: string } }> {
  const { admin, organization } = await strongroom.seed.organization();
  const project = await strongroom.seed.projectOf(admin);
  const callerOf = (projectRoles: string[]) => strongroom.seed.caller(admin, { project: project.id, projectRoles });
  return { ...(await fill(admin, project, callerOf)), organization };
}

/** How many of three equal requests are answered from memory, and the last response. The first finds out that the document is valid. */
async function askThrice(ask: () => Promise<Reply>): Promise<{ kept: number; reply: Reply }> {
  const before = await hits();
  await ask();
  await ask();
  const reply = await ask();
  return { kept: (await hits()) - before, reply };
}

const byKey = (selection: string, root = 'secretByKey'): string =>
  `query ($projectId: ID!, $environment: String!, $secretPath: String!) {
    ${root}(projectId: $projectId, environment: $environment, secretPath: $secretPath, secretKey: "KEY") { ${selection} } }`;

/** For tests that change nothing: what each of them asks for is another document. */
let shared: Filled;
beforeAll(async () => {
  shared = await filledScene();
});

describe('a query from memory', () => {
  test('costs three statements, and has the bytes and headers of the one before', async () => {
    const { admin, place } = await filledScene();
    const ask = () => admin.graphql(LIST, place);
    await ask();
    const made = mustSucceed(await ask());

    const { result, count } = await strongroom.statements(ask);

    expect(count).toBe(3);
    expect(result.text).toBe(made.text);
    const fixed = ({ headers: { date: _, 'x-request-id': __, ratelimit: ___, ...headers } }: Reply) => headers;
    expect(fixed(result)).toEqual(fixed(made));
  });

  test('leaves the audit records of a fresh one, as who asked', async () => {
    const { admin, writer, project, place } = await filledScene();
    const twin = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['member'] });
    await writer.graphql(LIST, place);
    const fresh = await writer.graphql(LIST, place);
    const before = await hits();

    const kept = await twin.graphql(LIST, place);

    expect(await hits()).toBe(before + 1);
    const rowsOf = ({ headers }: Reply) => strongroom.auditRows('request_id = $1', [headers['x-request-id']]);
    const [[made], rows] = [await rowsOf(fresh), await rowsOf(kept)];
    expect(rows).toMatchObject([{ action: 'secret:list', outcome: 'allowed', actor_id: twin.identityId }]);
    expect(rows[0]).toMatchObject({ facts: made?.facts, disclosed: made?.disclosed, project_id: project.id });
    expect(made?.disclosed).toBeInstanceOf(Uint8Array);
  });

  test('is counted by its root field', async () => {
    const { admin, place } = await filledScene();
    const counted = () => metric('strongroom_operations_total\\{api="graphql",operation="secretByKey",code="OK"\\}');
    const timed = () => metric('strongroom_graphql_operation_duration_seconds_count\\{operation="secretByKey"\\}');
    const before = [await counted(), await timed()];

    const { kept } = await askThrice(() => admin.graphql(byKey('id secretValue'), place));

    expect(kept).toBe(1);
    expect([await counted(), await timed()]).toEqual(before.map((count) => count + 3));
  });

  test('is counted and refused by the rate limit, with the header fields of a fresh one', async () => {
    const node = await startLimited(strongroom);
    const { admin, place } = await filledScene();

    const replies = await exhaust(() => admin.at(node.url).graphql(byKey('id version'), place));

    const kept = await metricAt(node, 'strongroom_reply_cache_requests_total{result="hit"}');
    await node.stop();
    expect([passed(replies), kept]).toEqual([QUOTAS.reads, QUOTAS.reads - 2]);
    expect(replies.at(-1)).toBeError(429, 'RATE_LIMITED');
    const [fresh, , third] = replies.map(limitHeadersOf);
    expect(third).toEqual(fresh);
    expect(third?.length).toBeGreaterThan(0);
  });

  test('is an error in the shape of a fresh one when it cannot be audited', async () => {
    const { admin, organization, place } = await filledScene();
    const query = byKey('secretValue', 'one: secretByKey');
    const ask = (text = query) => admin.graphql(text, place);
    expect((await askThrice(ask)).kept).toBe(1);

    const [kept, fresh] = await withoutRecordsOf(
      strongroom,
      organization.id,
      async () => [await ask(), await ask(byKey('secretValue folderId', 'one: secretByKey'))] as const,
    );

    expect(kept).toBeError(503, 'AUDIT_UNAVAILABLE');
    expect(kept.text).not.toContain('first');
    const shape = ({ status, body: { errors, ...rest } }: Reply) => {
      const { path, locations, extensions } = errors[0];
      return { status, rest, path, locations, code: extensions.code, count: errors.length };
    };
    expect(shape(kept)).toEqual(shape(fresh));
  });
});

describe('a query is kept', () => {
  test.each<[string, string]>([
    [
      'with fragments, aliases and directives below its root field',
      byKey('... on Secret { a: secretValue tags @skip(if: true) { slug } }'),
    ],
    ['with a name for its operation', byKey('secretValue').replace('query', 'query One')],
  ])('%s', async (_, query) => {
    const { admin, place } = shared;
    const { kept, reply } = await askThrice(() => admin.graphql(query, place));
    expect(mustSucceed(reply).text).toContain('first');
    expect(kept).toBe(1);
  });

  test('whether it is sent by POST or GET', async () => {
    const { admin, place } = shared;
    const query = byKey('secretValue version');
    const url = `/graphql?${new URLSearchParams({ query, variables: JSON.stringify(place) })}`;
    expect((await askThrice(() => admin.graphql(query, place))).kept).toBe(1);
    const before = await hits();
    expect(mustSucceed(await admin.get(url)).body.data.secretByKey).toEqual({ secretValue: 'first', version: 1 });
    expect(await hits()).toBe(before + 1);
  });
});

describe('a query that is asked for often', () => {
  const listed = (selection: string) =>
    `query One($projectId: ID!, $environment: String! = "dev", $path: String!, $first: Int, $isLong: Boolean! = false, $own: OwnValues = BESIDE) {
      list: secrets(projectId: $projectId, environment: $environment, secretPath: $path, first: $first, includeImports: true, ownValues: $own) { ${selection} unresolvedReferences @include(if: $isLong) } }
    fragment shown on Secret { secretKey type }`;
  const textOfData = ({ text }: Reply) => JSON.stringify(JSON.parse(text).data);

  test.each([
    'nodes { id secretKey secretValue type createdAt tags { slug color } actor { actorType name } }',
    'pageInfo { hasNextPage endCursor } edges { cursor node { version ...shown type } } nodes { __typename ...shown id }',
    'nodes { b: secretValue a: secretKey id @include(if: $isLong) ... @skip(if: $isLong) { secretPath } secretMetadata { key value } }',
    'imports { secretPath secrets { ...shown secretComment } } isDepthTruncated readIssues { secretId reason } nodes { ...shown }',
  ])('has the bytes that it had before: %s', async (selection) => {
    const { admin, place } = shared;
    const query = listed(selection.includes('shown') ? selection : `${selection} nodes { ...shown }`);
    const ask = (first: number, more: object = {}) =>
      admin.request({
        method: 'POST',
        path: '/graphql',
        body: { query, variables: { projectId: place.projectId, path: place.secretPath, first, ...more } },
      });
    const before = mustSucceed(await ask(900));
    for (const first of [901, 902, 903]) expect(mustSucceed(await ask(first)).text).toBe(before.text);
    const isLong = { isLong: true, own: 'INSTEAD' };
    const plain = mustSucceed(
      await admin.request({
        method: 'POST',
        path: '/graphql',
        body: {
          query,
          variables: { projectId: place.projectId, path: place.secretPath, first: 904, ...isLong },
          extensions: { cost: true },
        },
      }),
    );
    expect(textOfData(mustSucceed(await ask(905, isLong)))).toBe(textOfData(plain));
  });

  test('goes on after a cursor that it gave before', async () => {
    const { admin, place } = shared;
    const query = `query ($projectId: ID!, $environment: String!, $secretPath: String!, $first: Int, $after: String) {
      secrets(projectId: $projectId, environment: $environment, secretPath: $secretPath, first: $first, after: $after) {
        nodes { secretKey updatedAt } pageInfo { endCursor } } }`;
    const cursors = new Set<string>();
    for (let round = 0; round < 4; round += 1) {
      const { secrets } = await admin.data(query, { ...place, first: 1 });
      cursors.add(secrets.pageInfo.endCursor);
      const after = mustSucceed(
        await admin.graphql(query, { ...place, first: 10 + round, after: secrets.pageInfo.endCursor }),
      );
      expect(after.body.data.secrets.nodes).not.toContainEqual(secrets.nodes[0]);
    }
    expect(cursors.size).toBe(1);
  });

  test('fails as it did before', async () => {
    const { admin, place } = shared;
    const query = `query ($projectId: ID!, $environment: String!, $secretPath: String!, $key: String!) {
      it: secretByKey(projectId: $projectId, environment: $environment, secretPath: $secretPath, secretKey: $key) { id secretValue type } }`;
    const shape = ({ status, body: { errors, ...rest } }: Reply) => {
      const [{ extensions, ...error }] = errors;
      return { status, rest, error, code: extensions.code, details: extensions.details };
    };
    const ask = async (key: unknown, more: object = {}) =>
      shape(await admin.graphql(query, { ...place, key, ...more }));
    const wrong: [unknown, object?][] = [
      ['MISSING'],
      ['MISSING', { environment: 'nowhere' }],
      ['MISSING', { projectId: place.projectId.replace(/^./, 'f') }],
      [''],
      [7],
      [null],
    ];
    const before: unknown[] = [];
    const first = wrong.map(([key, more]) => [key, more, query] as const);
    for (const [key, more, text] of first) {
      // Another text each: no document is asked for twice.
      const own = text.replace('id secretValue', `id ${'_'.repeat(0)}secretValue #${JSON.stringify([key, more])}\n`);
      before.push(shape(await admin.graphql(own, { ...place, key, ...more })));
    }
    for (let round = 0; round < 3; round += 1) await ask('MISSING');
    const after: unknown[] = [];
    for (const [key, more] of wrong) after.push(await ask(key, more));
    expect(after).toEqual(before);
  });
});

describe('a query is not kept', () => {
  test.each<[string, string, object?]>([
    ['that selects what no kept REST response has', byKey('secretValue folder { id }')],
    [
      'with an argument that no kept REST response has',
      LIST.replace('includeImports: true', 'updatedSince: "2020-01-01T00:00:00Z"'),
    ],
    ['with two root fields', byKey('id').replace(/\}\s*\}$/, '} b: tags(projectId: $projectId) { nodes { id } } }')],
    ['with a directive at its root field', byKey('id').replace('"KEY") {', '"KEY") @include(if: true) {')],
    ['without the project among its arguments', 'query ($secretId: ID!) { secret(id: $secretId) { secretValue } }'],
    ['that asks for its cost', byKey('secretValue'), { extensions: { cost: true } }],
    [
      'that has two operations',
      `${byKey('id').replace('query', 'query A')} query B { __typename }`,
      { operationName: 'A' },
    ],
  ])('%s', async (_, query, more = {}) => {
    const { admin, place } = shared;
    const { secrets } = (await admin.get(`/api/v4/secrets?${new URLSearchParams(place)}`)).body;
    const secretId = secrets[0].id;
    const { $secretId, ...declared } = { $secretId: secretId, ...place };
    const variables = query.includes('$secretId') ? { secretId: $secretId } : declared;

    const { kept, reply } = await askThrice(() => admin.post('/graphql', { query, variables, ...more }));

    expect(mustSucceed(reply).body.errors).toBeUndefined();
    expect(kept).toBe(0);
  });

  test('that fails, for whatever reason', async () => {
    const { admin, place } = shared;
    const missing = { ...place, secretPath: '/nowhere' };
    const { kept, reply } = await askThrice(() => admin.graphql(LIST, missing));
    expect(reply).toBeError(404, 'FOLDER_NOT_FOUND');
    expect(kept).toBe(0);
  });

  test('that was asked with other variables, or under another name of a field', async () => {
    const { admin, place } = shared;
    const shown = byKey('secretValue')
      .replace('secretKey: "KEY"', 'secretKey: "KEY", viewSecretValue: $view')
      .replace('($', '($view: Boolean = true, $');
    expect((await askThrice(() => admin.graphql(shown, place))).kept).toBe(1);
    const before = await hits();

    const hidden = await admin.graphql(shown, { ...place, view: false });
    const renamed = await admin.graphql(shown.replace('secretByKey', 'other: secretByKey'), place);

    expect(hidden.body.data.secretByKey.secretValue).toBeNull();
    expect(renamed.body.data.other.secretValue).toBe('first');
    expect(await hits()).toBe(before);
  });
});

test('a number that no JSON can hold is an error, and not a kept response to null', async () => {
  const { admin, place } = shared;
  const query = byKey('secretValue').replace('"KEY"', '"KEY", version: $version').replace('($', '($version: Int, $');
  expect((await askThrice(() => admin.graphql(query, { ...place, version: null }))).kept).toBe(1);
  const variables = JSON.stringify({ version: 0, ...place }).replace('"version":0', '"version":1e400');

  const reply = await admin.get(`/graphql?${new URLSearchParams({ query, variables })}`);

  expect(reply).toBeError(422, 'VALIDATION_FAILED');
});

describe('a list with a value that cannot be decrypted', () => {
  test('is not kept, over either interface', async () => {
    const { admin, project, place } = await filledScene();
    await strongroom.sql(
      `update secret set value_sealed = set_byte(value_sealed, length(value_sealed) - 1, get_byte(value_sealed, length(value_sealed) - 1) # 1) where project_id = '${project.id}' and key = 'KEY'`,
    );

    const graphql = await askThrice(() => admin.graphql(LIST, place));
    const rest = await askThrice(() => admin.get(`/api/v4/secrets?${new URLSearchParams(place)}`));

    expect(graphql.reply.text).not.toContain('first');
    expect([graphql.kept, rest.kept]).toEqual([0, 0]);
  });
});
