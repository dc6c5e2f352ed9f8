import { randomUUID } from 'node:crypto';
import {
  type GraphQLArgument,
  type GraphQLInputType,
  type GraphQLObjectType,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isRequiredArgument,
  isRequiredInputField,
} from 'graphql';
import { type Caller, mustSucceed, type Reply } from '../../kit/caller.js';
import { OF_INSTALLATION } from '../../kit/operations/fields.js';
import { GRAPHQL, objectTypes, rootTypes } from '../../kit/operations/graphql.js';
import { fill, type RestOperation, type Values } from '../../kit/operations/operation.js';
import { asTexts, REST } from '../../kit/operations/rest.js';
import { restRequest } from '../../kit/operations/rest-requests.js';
import { PATHS } from '../../kit/reference.js';
import { sample } from '../../kit/scope.js';
import { someAtATime } from '../../kit/some-at-a-time.js';
import { LENIENT, type SharedStrongroom, useSharedStrongroom } from '../../kit/strongroom.js';
import { makeWorld, seedWorld, type World } from '../../kit/world.js';

const strongroom: SharedStrongroom = useSharedStrongroom(LENIENT, 'every operation');

/** Which things of a world have lists in them. */
const PARENTS: Readonly<Record<string, keyof World>> = {
  CertificateAlert: 'certificateAlert',
  Environment: 'environment',
  Folder: 'folder',
  Group: 'group',
  Identity: 'identity',
  NotificationChannel: 'notificationChannel',
  Organization: 'organization',
  Project: 'project',
  ProjectMembership: 'identityMembership',
  ProjectTemplate: 'projectTemplate',
  Secret: 'secret',
  User: 'user',
};
/** What is shown of the items of a list, and not which it has. */
const OF_DISPLAY = ['viewSecretValue', 'expandSecretReferences', 'includeRoles'];
const OF_PAGES = ['first', 'last', 'after', 'before', 'offset', 'skip'];

/** A field with cursors, at the root or in a thing. */
interface List {
  readonly name: string;
  readonly field: string;
  readonly inside: string | null;
  readonly taken: readonly GraphQLArgument[];
  readonly args: Values;
  readonly isCounted: boolean;
}

const ARGS = new Map(GRAPHQL.map(({ field, args }) => [field, args]));

const LISTS: readonly List[] = [rootTypes().Query, ...objectTypes().filter(({ name }) => name in PARENTS)].flatMap(
  (type) =>
    Object.values(type.getFields())
      .filter(({ args }) => args.some(({ name }) => name === 'after'))
      .map((field): List => {
        const shown = getNullableType(field.type) as GraphQLObjectType;
        const inside = type.name === 'Query' ? null : type.name;
        return {
          name: `${type.name}.${field.name}`,
          field: field.name,
          inside,
          taken: field.args,
          args: inside === null ? (ARGS.get(field.name) ?? {}) : {},
          isCounted: 'totalCount' in shown.getFields(),
        };
      }),
);

/** What a list is asked for: `args` of it beside those of the page. */
function send(
  list: List,
  caller: Caller,
  world: World,
  asked: Values,
  selected = 'edges { cursor } pageInfo { hasNextPage startCursor endCursor }',
): Promise<Reply> {
  const given: Values = { ...fill(list.args, world), ...asked };
  const used = list.taken.filter(({ name }) => name in given);
  // A variable that is not given leaves the default.
  const declared = used.map((it) => `$${it.name}: ${isRequiredArgument(it) ? it.type : getNullableType(it.type)}`);
  const passed = used.map(({ name }) => `${name}: $${name}`).join(', ');
  const field = `list: ${list.field}(${passed}) { ${selected} }`;
  const { inside } = list;
  const document =
    inside === null
      ? `query (${declared.join(', ')}) { ${field} }`
      : `query ($inside: ID!, ${declared.join(', ')}) { node(id: $inside) { ... on ${inside} { ${field} } } }`;
  return caller.graphql(document, inside === null ? given : { ...given, inside: world[thingOf(list)] });
}

/** Certificates and channels are in a project of their own. */
const thingOf = ({ inside, field }: List): keyof World =>
  inside === 'Project' && /certificate|notification/.test(field)
    ? 'certificateProject'
    : (PARENTS[inside ?? ''] ?? 'project');

const listIn = ({ body }: Reply) => body.data.list ?? body.data.node.list;

/** What a reply says of a cursor: null, or what is wrong with the request. */
function refusal(reply: Reply): unknown {
  const [error] = reply.body.errors ?? [];
  if (error !== undefined) return error.extensions.details ?? error.extensions.code;
  return reply.status === 200 ? null : (reply.body.details ?? reply.body);
}

const MADE_UP = Buffer.from(JSON.stringify(['a', randomUUID()])).toString('base64url');
const REFUSED = [{ path: 'query.cursor', code: 'INVALID_CURSOR', message: 'must be a cursor from this list' }];
const INVALID = [{ path: 'after', code: 'INVALID_CURSOR', message: 'must be a cursor from this list' }];

/** Another value of a type than the one that is given. */
function otherThan(value: unknown, type: GraphQLInputType): unknown {
  const nullable = getNullableType(type);
  if (isListType(nullable)) return [...((value as unknown[] | undefined) ?? []), otherThan(undefined, nullable.ofType)];
  const named = getNamedType(type);
  if (isEnumType(named)) return named.getValues().find(({ name }) => name !== value)?.name;
  if (isInputObjectType(named)) {
    const fields = Object.values(named.getFields());
    const wanted = named.isOneOf ? fields.slice(0, 1) : fields.filter(isRequiredInputField);
    const made = wanted.map((it) => [it.name, otherThan(undefined, it.type)]);
    return Object.fromEntries(
      made.length === 0 ? fields.slice(0, 1).map((it) => [it.name, otherThan(null, it.type)]) : made,
    );
  }
  if (named.name === 'Boolean') return value !== true;
  if (named.name === 'Int') return Number(value ?? 0) + 1;
  if (named.name === 'DateTime') return '2031-02-03T04:05:06.000Z';
  return named.name === 'ID' ? randomUUID() : `${value ?? ''}/other`;
}

/** The same question in all but one respect each. */
function otherQuestions({ taken }: List, given: Values): Values[] {
  return taken
    .filter(({ name }) => ![...OF_PAGES, ...OF_DISPLAY].includes(name))
    .flatMap(({ name, type, defaultValue }) => {
      const before = given[name] ?? defaultValue;
      const named = getNamedType(type);
      if (name !== 'input' || !isInputObjectType(named)) return [{ [name]: otherThan(before, type) }];
      const input = (before ?? {}) as Values;
      const fields = Object.values(named.getFields()).filter(({ name: inner }) => !OF_DISPLAY.includes(inner));
      return fields.map((field) => ({
        input: { ...input, [field.name]: otherThan(input[field.name] ?? field.defaultValue, field.type) },
      }));
    });
}

let own: World;
let admin: Caller;
/** In the same organization. */
let neighbour: World;
let colleague: Caller;
let stranger: { world: World; admin: Caller };
/** Cursors of the lists, by their names, of those that have rows. */
const cursors = new Map<string, string>();
const theirs = new Map<string, string>();

beforeAll(async () => {
  const seeded = await seedWorld(strongroom.seed);
  ({ world: own, admin } = seeded);
  stranger = await seedWorld(strongroom.seed);
  colleague = await strongroom.seed.caller(admin, { organizationRole: 'admin' });
  neighbour = await makeWorld(colleague, own.organization);
  for (const [known, caller, world] of [
    [cursors, admin, own],
    [theirs, stranger.admin, stranger.world],
  ] as const)
    await someAtATime(LISTS, async (list) => {
      const reply = await send(list, caller, world, { first: 1 });
      const cursor = reply.body.data?.list?.pageInfo.endCursor ?? reply.body.data?.node?.list?.pageInfo.endCursor;
      if (cursor != null) known.set(list.name, cursor);
    });
});

test('every type with lists is tried, and most of the lists have rows here', () => {
  const inside = new Set(LISTS.map(({ inside: type }) => type ?? 'Query'));
  const all = objectTypes().filter((type) =>
    Object.values(type.getFields()).some(({ args }) => args.some(({ name }) => name === 'after')),
  );
  expect(all.map(({ name }) => name).filter((name) => !inside.has(name))).toEqual(['Subscription']);
  expect(cursors.size).toBeGreaterThan(LISTS.length * 0.7);
});

describe.each(sample(LISTS, 4).map((list) => [list.name, list] as const))('%s', (name, list) => {
  test('counts what it shows on all pages, if it counts at all', async () => {
    if (!list.isCounted || OF_INSTALLATION.includes(list.field)) return;
    const { nodes } = listIn(mustSucceed(await send(list, admin, own, { first: 1_000 }, 'nodes { __typename }')));
    const page = listIn(mustSucceed(await send(list, admin, own, { first: 1 }, 'totalCount')));
    expect(page).toEqual({ totalCount: nodes.length });
  });

  test('takes its own cursors, whatever the size of the page', async () => {
    const after = cursors.get(name);
    if (after === undefined) return;
    for (const first of [1, 2, 1_000]) {
      const reply = await send(list, admin, own, { first, after });
      expect([first, refusal(reply)]).toEqual([first, null]);
    }
    const { edges, pageInfo } = listIn(mustSucceed(await send(list, admin, own, { first: 1 })));
    expect([edges[0].cursor, pageInfo.startCursor]).toEqual([pageInfo.endCursor, pageInfo.endCursor]);
  });

  test('refuses those of other lists, of other objects, and of other organizations', async () => {
    const at = LISTS.indexOf(list);
    const others = [...LISTS.slice(at + 1), ...LISTS.slice(0, at)].filter(
      (other) => other.name !== name && cursors.has(other.name),
    );
    const ofSame = others.filter(({ field }) => field.toLowerCase().startsWith(list.field.slice(0, 5).toLowerCase()));
    const foreign = [
      ...[...others.slice(0, 4), ...ofSame].map((other) => cursors.get(other.name)),
      theirs.get(name),
    ].filter((cursor) => cursor !== undefined);
    for (const after of foreign) expect(refusal(await send(list, admin, own, { first: 1, after }))).toEqual(INVALID);
    const after = cursors.get(name);
    const isElsewhere = list.inside !== null && list.inside !== 'Organization';
    if (after !== undefined && isElsewhere)
      expect(refusal(await send(list, colleague, neighbour, { first: 1, after }))).toEqual(INVALID);
  });

  test('refuses its own for any other place, filter or order, and not for what is shown of the items', async () => {
    const after = cursors.get(name);
    if (after === undefined) return;
    const shown = list.taken
      .filter(({ name: taken }) => OF_DISPLAY.includes(taken))
      .map((it) => [it.name, !it.defaultValue]);
    mustSucceed(await send(list, admin, own, { first: 1, after, ...Object.fromEntries(shown) }));
    for (const other of otherQuestions(list, fill(list.args, own)))
      expect([other, refusal(await send(list, admin, own, { first: 1, after, ...other }))]).toEqual([other, INVALID]);
  });

  test('refuses what was made up', async () => {
    const after = cursors.get(name) ?? cursors.get('Query.groups') ?? '';
    const made = [after.slice(16), after.slice(0, 16), after.slice(0, 16) + MADE_UP, MADE_UP, `${after}A`, 'x', ''];
    for (const cursor of made)
      expect([cursor, refusal(await send(list, admin, own, { first: 1, after: cursor }))]).toEqual([cursor, INVALID]);
  });
});

test('a list that goes back refuses in `before` what it refuses in `after`', async () => {
  for (const list of LISTS.filter(({ taken }) => taken.some(({ name }) => name === 'before')))
    for (const before of [MADE_UP, cursors.get('Query.groups')])
      expect(refusal(await send(list, admin, own, { last: 1, before }))).toEqual([{ ...INVALID[0], path: 'before' }]);
});

test('each item of a list that is sent in slices has a cursor of the list', async () => {
  const project = await strongroom.seed.projectOf(admin);
  const keys = Array.from({ length: 1_200 }, (_, at) => `KEY_${at + 1_000}`);
  for (const from of [0, 400, 800]) {
    const secrets = keys.slice(from, from + 400).map((secretKey) => ({ secretKey, secretValue: 'x' }));
    mustSucceed(await admin.post('/api/v4/secrets/batch', { projectId: project.id, environment: 'dev', secrets }));
  }
  const document = `query ($id: ID!, $first: Int, $after: String) { secrets(projectId: $id, environment: "dev", first: $first, after: $after) {
    edges { cursor node { secretKey } } } }`;
  const { edges } = (await admin.data(document, { id: project.id })).secrets;
  expect(edges.map(({ node }: { node: { secretKey: string } }) => node.secretKey)).toEqual(keys);
  const next = await admin.data(document, { id: project.id, first: 1, after: edges[1_100].cursor });
  expect(next.secrets.edges).toEqual([edges[1_101]]);
});

/** Routes whose lists have cursors. */
const ROUTES = REST.filter((operation) => 'cursor' in parametersOf(operation));

interface Parameter {
  readonly in: string;
  readonly name: string;
  readonly schema: { readonly enum?: readonly string[]; readonly default?: unknown; readonly format?: string };
}

function parametersOf({ route }: RestOperation): Record<string, Parameter> {
  const [method = '', path = ''] = route.split(' ');
  const { parameters = [] }: { parameters?: readonly Parameter[] } = PATHS[path][method.toLowerCase()];
  return Object.fromEntries(parameters.filter((it) => it.in === 'query').map((it) => [it.name, it]));
}

/** Another value of a parameter. */
function otherText(value: unknown, { name, schema }: Parameter): string {
  const { enum: words = [], format } = schema;
  if (words.length > 0) return words.find((word) => word.toLowerCase() !== `${value ?? schema.default}`) as string;
  if (format === 'date-time') return '2031-02-03T04:05:06.000Z';
  return /Id$/.test(name) ? randomUUID() : `${value ?? ''}/other`;
}

describe.each(sample(ROUTES, 3).map((operation) => [operation.route, operation] as const))('%s', (_, operation) => {
  const get = (query: Values) =>
    restRequest({ ...operation, query: { ...operation.query, ...asTexts(query) } }).send(admin, own);

  test('takes its own cursor for a page of any size, and for no other question', async () => {
    const { nextCursor: cursor } = mustSucceed(await get({ limit: 1 })).body;
    if (cursor === undefined) return;
    for (const limit of [1, 2, 100]) mustSucceed(await get({ limit, cursor }));
    const others = Object.values(parametersOf(operation)).filter(
      ({ name }) => !['limit', 'cursor', 'offset', ...OF_DISPLAY].includes(name),
    );
    for (const parameter of others) {
      const { name } = parameter;
      const other = { [name]: otherText(operation.query[name], parameter) };
      const reply = await get({ limit: 1, cursor, ...other });
      expect([other, refusal(reply)]).toEqual([other, REFUSED]);
    }
  });

  test('refuses cursors of other lists and what was made up, and is whole without', async () => {
    // No route has the lists of these fields.
    for (const list of ['Environment.folders', 'CertificateAlert.messages'])
      expect(refusal(await get({ limit: 1, cursor: cursors.get(list) }))).toEqual(REFUSED);
    expect(refusal(await get({ limit: 1, cursor: MADE_UP }))).toEqual(REFUSED);
    mustSucceed(await get({}));
  });
});
