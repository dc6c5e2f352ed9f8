import { randomUUID } from 'node:crypto';
import type { Caller, Reply } from '../../kit/caller.js';
import { GRAPHQL, graphqlDocument } from '../../kit/operations/graphql.js';
import { fill, type Ids } from '../../kit/operations/operation.js';
import { REST } from '../../kit/operations/rest.js';
import { sample } from '../../kit/scope.js';
import { someAtATime } from '../../kit/some-at-a-time.js';
import { LENIENT, type SharedStrongroom, useSharedStrongroom } from '../../kit/strongroom.js';
import { seedWorld } from '../../kit/world.js';

const strongroom: SharedStrongroom = useSharedStrongroom(LENIENT, 'every operation');

const NUL = 'a\u0000b';
const HALF = 'a\ud800b';
const MESSAGE = 'must be well-formed Unicode without NUL characters';
/** Things are looked for only after texts are checked. */
const ANY = new Proxy({}, { get: () => randomUUID() }) as Ids;

type Step = string | number;

/** The places of the strings of a value, of those with such a name. */
function stringsIn(
  value: unknown,
  isWanted: (name: Step | undefined) => boolean = () => true,
  at: Step[] = [],
): Step[][] {
  if (typeof value === 'string') return isWanted(at.findLast((step) => typeof step === 'string')) ? [at] : [];
  if (typeof value !== 'object' || value === null) return [];
  const inner = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return inner.flatMap(([step, part]) => stringsIn(part, isWanted, [...at, step]));
}

/** The same value with another string at a place. */
function replaced(value: unknown, [step, ...rest]: Step[], text: string): unknown {
  if (step === undefined) return text;
  const copy = structuredClone(value) as Record<Step, unknown>;
  copy[step] = replaced(copy[step], rest, text);
  return copy;
}

const pathTo = (steps: readonly Step[]): string =>
  steps
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
    .join('')
    .replace(/^\./, '');

interface Attempt {
  readonly name: string;
  readonly path: string;
  send(caller: Caller): Promise<Reply>;
}

/** Every operation, with a text at each place of its arguments. */
const ofGraphQL = (text: string, ids: Ids = ANY, isWanted?: (name: Step | undefined) => boolean): Attempt[] =>
  GRAPHQL.flatMap((operation) => {
    const { document, args } = graphqlDocument(operation);
    return stringsIn(args, isWanted).map((steps) => ({
      name: operation.field,
      path: pathTo(steps),
      send: (caller) => caller.graphql(document, replaced(fill(args, ids), steps, text) as Record<string, unknown>),
    }));
  });

/** Every route, with a text at each place of its path, query and body. */
const ofRest = (text: string, ids: Ids = ANY, isWanted?: (name: Step | undefined) => boolean): Attempt[] =>
  REST.flatMap(({ route, path: params, query, body }) => {
    const [method = '', pattern = ''] = route.split(' ');
    const parts = { params, query, ...(body === undefined ? {} : { body }) };
    return stringsIn(parts, isWanted)
      .filter(([part]) => part === 'body' || text.isWellFormed())
      .map((steps) => ({
        name: route,
        path: pathTo(steps),
        send: (caller) => {
          const given = replaced(fill(parts, ids), steps, text) as typeof parts;
          const at = pattern.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(given.params[name])));
          return caller.request({ method, path: `${at}?${new URLSearchParams(given.query)}`, body: given.body });
        },
      }));
  });

/** The violations of a reply. */
const violationsIn = ({ body }: Reply): string[] =>
  ((body?.errors?.[0].extensions ?? body)?.details ?? []).map(
    ({ path, code, message }: Record<string, string>) => `${path} ${code} ${message}`,
  );

describe('text that Postgres cannot store is refused with its path', () => {
  test.each([
    ['NUL', 'an argument', ofGraphQL(NUL)],
    ['half a surrogate pair', 'an argument', ofGraphQL(HALF)],
    ['NUL', 'a path, a query or a body', ofRest(NUL)],
    ['half a surrogate pair', 'a body', ofRest(HALF)],
  ])('%s in every place of %s of every operation', async (_, _place, attempts) => {
    const tried = sample(attempts, 8);
    await someAtATime(tried, async ({ name, path, send }) => {
      const reply = await send(strongroom.admin);
      expect([name, reply.status, violationsIn(reply)]).toEqual([name, 422, [`${path} INVALID ${MESSAGE}`]]);
    });
    expect(attempts.length).toBeGreaterThan(100);
  });

  test.each([
    ['an escape in a literal', '{ project(id: "a\\u0000b") { id } }', {}, 'id'],
    ['a literal as it is', '{ project(id: "a\0b") { id } }', {}, 'id'],
    ['a literal of a list', '{ nodes(ids: ["x", "a\\u0000b"]) { id } }', {}, 'ids[1]'],
    [
      'a block string',
      'mutation { createTag(input: { projectId: "x", slug: """a\0b""" }) { tag { id } } }',
      {},
      'input.slug',
    ],
    ['a default of a variable', 'query ($p: ID! = "a\\u{0}b") { project(id: $p) { id } }', {}, 'id'],
    ['an argument below', '{ projects { nodes { secretByKey(key: "a\\u0000b") { id } } } }', {}, 'key'],
    [
      'a variable inside of a literal',
      'query ($v: String) { tags(projectId: "x", first: $v) { nodes { id } } }',
      { v: NUL },
      'first',
    ],
    ['a variable that is not declared', '{ projects { nodes { id } } }', { other: [NUL] }, 'variables.other[0]'],
    ['a name that cannot be repeated', '{ projects { nodes { id } } }', { 'a secret, maybe': [NUL] }, 'variables'],
  ])('in GraphQL: %s', async (_, query, variables, path) => {
    const reply = await strongroom.admin.graphql(query, variables);
    expect(reply.status).toBe(422);
    expect(violationsIn(reply)).toEqual([`${path} INVALID ${MESSAGE}`]);
  });

  test('in names of fields at any depth, and in all of them at once', async () => {
    const keys = 'must have only keys of well-formed Unicode without NUL characters';
    const { admin } = strongroom;
    const inBody = await admin.post('/api/v2/workspace', {
      projectName: NUL,
      more: [{ [NUL]: 1 }, { 'a b': { c: HALF } }],
    });
    expect(violationsIn(inBody)).toEqual([
      `body.projectName INVALID ${MESSAGE}`,
      `body.more[0] INVALID ${keys}`,
      `body.more[1] INVALID ${MESSAGE}`,
    ]);
    const inQuery = await admin.get('/api/v1/projects?a%00b=1');
    expect(violationsIn(inQuery)).toEqual([`query INVALID ${keys}`]);
    const inVariables = await admin.graphql('{ projects { nodes { id } } }', { [NUL]: 1 });
    expect(violationsIn(inVariables)).toEqual([`variables INVALID ${keys}`]);
    expect([inBody.status, inQuery.status, inVariables.status]).toEqual([422, 422, 422]);
  });

  test('also where the response is a stream, a file or for callers without a token, and nested very deeply', async () => {
    const { admin } = strongroom;
    const anonymous = admin.anonymous;
    const deep = (levels: number): string => `${'['.repeat(levels)}"a\\u0000b","a\\u0000b"${']'.repeat(levels)}`;
    const replies = [
      await admin.get('/api/v1/events?projectId=a%00b', { accept: 'text/event-stream' }),
      await admin.post(
        '/graphql/stream',
        { query: 'subscription ($id: ID) { changes(projectId: $id) { __typename } }', variables: { id: NUL } },
        { accept: 'text/event-stream' },
      ),
      await admin.get('/api/v1/audit-events/export?from=a%00b'),
      await admin.request({ method: 'POST', path: '/api/v2/workspace', rawBody: `{"projectName":${deep(60)}}` }),
      await admin.get(`/graphql?query={__typename}&variables={"a":${deep(20_000)}}`.replaceAll('"', '%22'), {
        'apollo-require-preflight': 'yes',
      }),
    ];
    expect(replies.map(({ status, body }) => [status, body.code ?? body.errors?.[0].extensions.code])).toEqual(
      replies.map(() => [422, 'VALIDATION_FAILED']),
    );
    expect(Math.max(...replies.map(({ text }) => text.length))).toBeLessThan(2_000);
    const login = await anonymous.post('/api/v1/auth/universal-auth/login', { clientId: NUL, clientSecret: 'x' });
    expect([login.status, violationsIn(login)]).toEqual([422, [`body.clientId INVALID ${MESSAGE}`]]);
  });

  test('after the token, and not on paths that do not exist', async () => {
    const anonymous = strongroom.admin.anonymous;
    expect(await anonymous.get('/api/v1/projects/a%00b')).toBeError(401, 'TOKEN_MISSING');
    expect(await anonymous.graphql('{ project(id: "a\\u0000b") { id } }')).toBeError(401, 'TOKEN_MISSING');
    expect(await strongroom.admin.get('/nowhere/a%00b')).toBeError(404, 'ROUTE_NOT_FOUND');
  });
});

describe('what is no ID in the place of an ID', () => {
  const WRONG = 'nO iD';
  const isId = (name: Step | undefined): boolean => /(^id|Ids?)$/.test(String(name));

  test('is refused as usual, and leaves no text of the caller in the trail', async () => {
    const { world, admin } = await seedWorld(strongroom.seed);
    const attempts = [...ofGraphQL(WRONG, world, isId), ...ofRest(WRONG, world, isId)];
    await someAtATime(sample(attempts, 4), async ({ name, path, send }) => {
      const { status, body } = await send(admin);
      const code = body?.code ?? body?.errors?.[0].extensions.code ?? 'none';
      expect([name, path, status < 500 || status === 502 || code]).toEqual([name, path, true]);
    });
    expect(attempts.length).toBeGreaterThan(300);
    const told = await strongroom.sql('select distinct action from audit_record where facts::text ilike $1', [
      `%${WRONG}%`,
    ]);
    expect(told).toEqual([]);
  });
});
