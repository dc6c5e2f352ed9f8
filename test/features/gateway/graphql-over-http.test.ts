import { serverAudits } from 'graphql-http';
import type { Caller, Reply } from '../../kit/caller.js';
import { type SharedStrongroom, useSharedStrongroom } from '../../kit/strongroom.js';

const strongroom: SharedStrongroom = useSharedStrongroom();
const JSON_TYPE = 'application/json';
const GRAPHQL_TYPE = 'application/graphql-response+json';

const ask = (
  parameters: Record<string, string>,
  headers: Record<string, string> = {},
  caller: Caller = strongroom.admin,
): Promise<Reply> => caller.get(`/graphql?${new URLSearchParams(parameters)}`, headers);

const post = (query: string, headers: Record<string, string>, caller: Caller = strongroom.admin): Promise<Reply> =>
  caller.graphql(query, undefined, headers);

describe('every audit of GraphQL over HTTP passes, whether it says MUST, SHOULD or MAY', () => {
  test.each(serverAudits({ url: () => `${strongroom.url}/graphql` }).map(({ id, name, fn }) => [id, name, fn]))(
    '%s %s',
    async (_id, _name, audit) => {
      const result = await audit();
      expect(result.status === 'ok' ? 'ok' : result).toBe('ok');
    },
  );
});

describe('a GET', () => {
  test('runs the named query of the URL with its variables, and its answer is kept nowhere', async () => {
    const { admin, project } = await strongroom.seed.project();
    const reply = await ask(
      {
        query: 'query B($id: ID!) { project(id: $id) { id } }',
        operationName: 'B',
        variables: JSON.stringify({ id: project.id }),
        extensions: '{"a": 1}',
      },
      {},
      admin,
    );
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({ data: { project: { id: project.id } } });
    expect(reply.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      vary: 'Accept, Accept-Encoding',
    });
  });

  test.each([undefined, JSON_TYPE, GRAPHQL_TYPE])('changes nothing (accepting %s)', async (accept) => {
    const { admin } = await strongroom.seed.organization();
    const query = 'mutation { createProject(input: { name: "Never", slug: "never-made" }) { project { id } } }';
    const reply = await ask({ query }, accept === undefined ? {} : { accept }, admin);
    expect(reply).toBeError(405, 'METHOD_NOT_ALLOWED');
    expect(reply.status).toBe(405);
    expect(reply.headers.allow).toBe('POST');
    expect(await admin.graphql('{ projectBySlug(slug: "never-made") { id } }')).toBeError(404, 'PROJECT_NOT_FOUND');
  });

  test.each<[string, string]>([
    ['no query', ''],
    ['an empty query', 'query='],
    ['a query that is there twice', 'query={__typename}&query={__typename}'],
    ['variables that are no JSON', 'query={__typename}&variables={cAnArY'],
    ['variables that are a list', 'query={__typename}&variables=[]'],
    ['extensions that are a text', 'query={__typename}&extensions="cAnArY"'],
  ])('with %s is refused', async (_, search) => {
    const reply = await strongroom.admin.get(`/graphql?${search}`, { accept: JSON_TYPE });
    expect(reply).toBeError(400, 'MALFORMED_REQUEST');
    expect(reply.status).toBe(400);
    expect(reply.text).not.toContain('cAnArY');
  });

  test('that a page of another origin has sent is refused, unless a browser had to ask first', async () => {
    const query = { query: '{ __typename }' };
    const nobody = strongroom.admin.anonymous;
    const foreign: Record<string, string>[] = [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://elsewhere.example' },
      { origin: 'null' },
    ];
    for (const headers of foreign) {
      expect(await ask(query, headers, nobody)).toBeError(400, 'MALFORMED_REQUEST');
      expect((await ask(query, headers)).status).toBe(200);
      expect((await ask(query, { ...headers, 'apollo-require-preflight': '1' }, nobody)).status).toBe(200);
    }
    for (const headers of [{ 'sec-fetch-site': 'same-origin' }, { 'sec-fetch-site': 'none' }]) {
      expect((await ask(query, headers, nobody)).status).toBe(200);
    }
  });
});

test.each(['application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'text/plain'])(
  'a POST of %s, which a form of another origin can send, is refused',
  async (contentType) => {
    const reply = await strongroom.admin.request({
      method: 'POST',
      path: '/graphql',
      rawBody: '{"query":"{ __typename }"}',
      headers: { 'content-type': contentType },
    });
    expect(reply).toBeError(415, 'UNSUPPORTED_MEDIA_TYPE');
  },
);

describe('the type of the answer', () => {
  test.each<[string, string | null]>([
    ['*/*', JSON_TYPE],
    ['application/*', JSON_TYPE],
    [`${GRAPHQL_TYPE}, ${JSON_TYPE};q=0.9`, GRAPHQL_TYPE],
    [`${JSON_TYPE};q=0.5, ${GRAPHQL_TYPE};q=0.6`, GRAPHQL_TYPE],
    [`${JSON_TYPE}, ${GRAPHQL_TYPE}`, JSON_TYPE],
    [`${JSON_TYPE};q=0, */*;q=0.1`, GRAPHQL_TYPE],
    ['text/html, */*;q=0.1', JSON_TYPE],
    ['APPLICATION/JSON; charset=utf-8', JSON_TYPE],
    ['text/event-stream', null],
    [`${JSON_TYPE};q=0`, null],
  ])('for %s is %s', async (accept, type) => {
    const reply = await post('{ __typename }', { accept });
    if (type === null) expect(reply).toBeError(406, 'NOT_ACCEPTABLE');
    expect(reply.status).toBe(type === null ? 406 : 200);
    expect(reply.headers['content-type']).toBe(`${type ?? JSON_TYPE}; charset=utf-8`);
  });

  test('is settled before a mutation runs', async () => {
    const { admin } = await strongroom.seed.organization();
    const query = 'mutation { createProject(input: { name: "Never", slug: "never-made" }) { project { id } } }';
    expect(await post(query, { accept: 'image/png' }, admin)).toBeError(406, 'NOT_ACCEPTABLE');
    expect(await admin.graphql('{ projectBySlug(slug: "never-made") { id } }')).toBeError(404, 'PROJECT_NOT_FOUND');
  });
});

describe('the status', () => {
  const UNKNOWN = '{ project(id: "00000000-0000-4000-8000-000000000000") { id } }';
  const COERCION = 'query ($first: Int!) { projects(first: $first) { __typename } }';

  test.each<[string, string, Record<string, number>]>([
    ['a document that cannot be parsed', '{', { '*/*': 400, [JSON_TYPE]: 200, [GRAPHQL_TYPE]: 400 }],
    ['a document that does not fit', '{ nope }', { '*/*': 400, [JSON_TYPE]: 200, [GRAPHQL_TYPE]: 400 }],
    ['a variable that is missing', COERCION, { '*/*': 422, [JSON_TYPE]: 200, [GRAPHQL_TYPE]: 400 }],
  ])('of %s is by the type of the answer', async (_, query, statuses) => {
    for (const [accept, status] of Object.entries(statuses)) {
      expect((await post(query, { accept })).status).toBe(status);
    }
  });

  test('of a root field that fails alone is that of its error, unless a type of the response is named', async () => {
    for (const [accept, status] of Object.entries({ '*/*': 404, [JSON_TYPE]: 200, [GRAPHQL_TYPE]: 200 })) {
      const reply = await post(UNKNOWN, { accept });
      expect(reply).toBeError(404, 'PROJECT_NOT_FOUND');
      const data = { project: null };
      expect({ accept, status: reply.status, data: reply.body.data }).toEqual({ accept, status, data });
    }
  });

  test.each(['*/*', JSON_TYPE, GRAPHQL_TYPE])('of a token that is refused is 401, accepting %s', async (accept) => {
    const refused = await post('{ __typename }', { accept, authorization: 'Bearer nonsense' });
    expect(refused).toBeError(401, 'TOKEN_INVALID');
    const missing = await post('{ projects { nodes { id } } }', { accept }, strongroom.admin.anonymous);
    expect(missing).toBeError(401, 'TOKEN_MISSING');
    for (const reply of [refused, missing]) {
      expect(reply.status).toBe(401);
      expect(reply.headers).toMatchObject({
        'www-authenticate': 'Bearer',
        'content-type': `${accept === '*/*' ? JSON_TYPE : accept}; charset=utf-8`,
      });
      expect(reply.body.data ?? null).toBeNull();
    }
  });

  test('of the type of the schema, asked for without a token, is 200', async () => {
    const reply = await strongroom.admin.anonymous.graphql('{ __typename }');
    expect({ status: reply.status, body: reply.body }).toEqual({
      status: 200,
      body: { data: { __typename: 'Query' } },
    });
  });
});
