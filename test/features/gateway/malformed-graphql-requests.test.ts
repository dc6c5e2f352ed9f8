import type { Caller } from '../../kit/caller.js';
import { type SharedStrongroom, useSharedStrongroom } from '../../kit/strongroom.js';

const strongroom: SharedStrongroom = useSharedStrongroom();
const send = (body: unknown, headers: Record<string, string> = {}, caller: Caller = strongroom.admin) =>
  caller.post('/graphql', body, headers);

const HASH = 'ecf4edb46db40b5132295c0291d62fb65d6759a9eedfa4d5d612dd5ec54a6b38';
const persisted = (version: number, sha256Hash: string) => ({ persistedQuery: { version, sha256Hash } });
/** As many fragments, each in the one before, as make the validation of GraphQL run out of stack. */
const CHAIN = `{ ...F0 } ${Array.from({ length: 5_000 }, (_, n) => `fragment F${n} on Query { ...F${n + 1} }`).join(' ')}
  fragment F5000 on Query { __typename }`;

describe('a request that GraphQL over HTTP does not know is refused in the shape of all errors', () => {
  test.each<[string, unknown]>([
    ['a batch', [{ query: '{ __typename }' }]],
    ['a text', 'x'],
    ['null', null],
    ['an empty object', {}],
    ['a query that is no text', { query: 5 }],
    ['variables in a text', { query: '{ __typename }', variables: '{}' }],
    ['variables in a list', { query: '{ __typename }', variables: [1] }],
    ['extensions in a text', { query: '{ __typename }', extensions: 'x' }],
    ['an operation name that is no text', { query: '{ __typename }', operationName: 5 }],
    ['a hash that is no object', { extensions: { persistedQuery: HASH } }],
  ])('%s', async (_, body) => {
    const reply = await send(body);

    expect(reply).toBeError(400, 'MALFORMED_REQUEST');
    expect(reply.status).toBe(400);
    expect(reply.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
    });
  });

  test.each<[string, unknown]>([
    ['the hash of a query', { extensions: persisted(1, HASH) }],
    ['a query to be kept under its hash', { query: '{ __typename }', extensions: persisted(1, HASH) }],
    ['a hash of another kind', { query: '{ __typename }', extensions: persisted(2, 'x') }],
  ])('%s, in the words that clients of automatic persisted queries look for', async (_, body) => {
    const reply = await send(body);

    expect(reply).toBeError(400, 'PERSISTED_QUERY_NOT_SUPPORTED');
    expect(reply.body.errors[0].message).toBe('PersistedQueryNotSupported');
  });

  test('a subscription', async () => {
    const reply = await send({ query: 'subscription { anything }' });
    expect(reply).toBeError(400, 'GRAPHQL_INVALID');
    expect(reply.status).toBe(400);
  });

  test.each(['text/html', 'multipart/mixed'])('an answer as %s', async (accept) => {
    const reply = await send({ query: '{ __typename }' }, { accept });
    expect(reply).toBeError(406, 'NOT_ACCEPTABLE');
    expect(reply.status).toBe(406);
  });
});

test('a document that would exhaust the validation is refused before it', async () => {
  const reply = await send({ query: CHAIN });
  expect(reply).toBeError(400, 'QUERY_TOO_COMPLEX');
  expect(reply.status).toBe(400);
  const anonymous = await send({ query: CHAIN }, {}, strongroom.admin.anonymous);
  expect(anonymous).toBeError(401, 'TOKEN_MISSING');
  expect(await strongroom.log()).not.toMatch(/INTERNAL|Unexpected error/);
});

test('a variable that misses a field, and has one too many, is refused by their names, without a value', async () => {
  const { admin } = await strongroom.seed.organization();
  const document = 'mutation ($input: CreateProjectInput!) { createProject(input: $input) { project { id } } }';
  const value = 'SECRET"; Field "leak" is not defined by type "X".';
  const { body, text } = await admin.graphql(document, { input: { nome: value } });
  expect(body.errors).toHaveLength(1);
  expect(body.errors[0].extensions.details).toEqual([
    { path: 'input.name', code: 'MISSING', message: 'required' },
    { path: 'input', code: 'UNKNOWN_KEY', message: 'unknown field `nome`; did you mean `name`?' },
  ]);
  expect(text).not.toMatch(/SECRET|leak/);
});
