import { getIntrospectionQuery } from 'graphql';
import type { Reply } from '../../kit/caller.js';
import { type SharedStrongroom, type Strongroom, useSharedStrongroom, useStrongroom } from '../../kit/strongroom.js';

/** Fields of a project that answer no objects. */
const LEAVES = `auditLogsRetentionDays autoCapitalization createdAt defaultProduct description hasDeleteProtection id
  kmsSecretManagerKeyId name organizationId pitVersionLimit secretSharing slug type updatedAt upgradeStatus version`.split(
  /\s+/,
);
const times = (count: number, text: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => text(n)).join(' ');
const leaves = (count: number): string => times(count, (n) => LEAVES[n % LEAVES.length] as string);
const DEEP = ['projects(first: 1)', 'nodes', 'environments', 'folders(first: 1)', 'nodes', 'parent', '__typename'];
const nested = (fields: readonly string[]): string => fields.reduceRight((inside, field) => `${field} { ${inside} }`);
const ofTypes = (count: number): string => nested([...Array<string>(count).fill('ofType'), 'kind']);

/** Small ones, so that each can be reached alone; and for each a document that asks for so much of it, and otherwise for little. */
const LIMITS: Readonly<Record<string, [allowed: number, document: (n: number) => string]>> = {
  text: [4_000, (n) => `{ __typename } #${'x'.repeat(n - 16)}`],
  tokens: [200, (n) => `{ projects { nodes { ${leaves(n - 8)} } } }`],
  depth: [6, (n) => `{ ${nested(n === 6 ? [...DEEP.slice(0, 5), '__typename'] : DEEP)} }`],
  selections: [
    250,
    (n) => `{ a: projects { nodes { ...F } } b: projects { nodes { ...F } } c: projects { nodes { ...F } }
      projects { nodes { ${leaves(n - 191)} } } } fragment F on Project { ${leaves(60)} }`,
  ],
  cost: [500, (n) => `{ projects(first: ${n - 1}) { nodes { id } } }`],
  aliases: [5, (n) => `{ ${times(n, (each) => `a${each}: __typename`)} }`],
  directives: [4, (n) => `{ ${times(n, () => '__typename @include(if: true)')} }`],
  fragments: [
    4,
    (n) =>
      `{ ${times(n, (each) => `...F${each}`)} } ${times(n, (each) => `fragment F${each} on Query { __typename }`)}`,
  ],
  operations: [2, (n) => times(n, (each) => `query Q${each} { __typename }`)],
  branches: [3, (n) => `{ ${times(n, () => 'projects { nodes { id } }')} }`],
  leaves: [20, (n) => `{ ${times(n, () => '__typename')} }`],
  introspectionDepth: [8, (n) => `{ __type(name: "Project") { ${ofTypes(n - 2)} } }`],
};
const codeOf = (name: string): string => `${name.replace(/[A-Z]/g, '_$&').toUpperCase()}_LIMIT`;

const codesOf = ({ errors = [] }: { errors?: { extensions: { code: string; details?: { code: string }[] } }[] }) =>
  errors.flatMap(({ extensions: { code, details = [{ code }] } }) => details.map((detail) => detail.code));
const detailsOf = (reply: Reply): { path: string; code: string; message: string }[] =>
  reply.body.errors[0].extensions.details;

describe('a document', () => {
  const settings = [...Object.entries(LIMITS).map(([name, [allowed]]) => `${name}=${allowed}`), 'objects=60'];
  const strongroom: Strongroom = useStrongroom({ GRAPHQL_LIMITS: settings.join(',') });
  const send = (query: string, more: object = {}) => strongroom.admin.post('/graphql', { query, ...more });
  const operationName = (query: string) => (query.includes('Q0') ? { operationName: 'Q0' } : {});

  test.each(Object.entries(LIMITS))('of as many %s as are allowed runs', async (name, [allowed, document]) => {
    const query = document(allowed);
    const reply = await send(query, { extensions: { cost: true }, ...operationName(query) });
    expect([reply.status, reply.body.errors]).toEqual([200, undefined]);
    expect(reply.body.extensions.cost[name]).toEqual({ asked: allowed, allowed });
  });

  test.each(Object.entries(LIMITS))(
    'of one more %s is refused with both numbers',
    async (name, [allowed, document]) => {
      const query = document(allowed + 1);
      const reply = await send(query, operationName(query));
      expect(reply).toBeError(400, 'QUERY_TOO_COMPLEX');
      expect(reply.status).toBe(400);
      expect(detailsOf(reply)).toEqual([{ path: 'query', code: codeOf(name), message: expect.any(String) }]);
      expect(detailsOf(reply)[0]?.message.match(/\d+/g)?.map(Number)).toEqual([allowed + 1, allowed]);
    },
  );

  /** So many times three environments, their project, and again its three. */
  const again = (count: number): string =>
    times(count, (n) => `a${n}: environments { project { environments { id } } }`);

  test('whose response has more objects than are allowed ends, says how to page, and shows both figures', async () => {
    const { admin, project } = await strongroom.seed.project();
    const ask = (count: number) =>
      admin.post('/graphql', {
        query: `{ project(id: "${project.id}") { ${again(count)} } }`,
        extensions: { cost: true },
      });

    const within = await ask(3);
    expect([within.status, within.body.errors]).toEqual([200, undefined]);
    expect(within.body.extensions.cost).toMatchObject({
      cost: { asked: 1 + 3 * 3, allowed: 500 },
      objects: { asked: 1 + 3 * 15, allowed: 60 },
    });
    const beyond = await ask(4);
    expect(beyond).toBeError(400, 'QUERY_TOO_COMPLEX');
    expect(beyond.body.data).toBeUndefined();
    expect(detailsOf(beyond)).toEqual([
      { path: 'query', code: 'OBJECTS_LIMIT', message: expect.stringMatching(/ 60 .*`first` and `after`/) },
    ]);
    expect(beyond.body.extensions.cost.objects.asked).toBeGreaterThan(60);
    expect((await ask(3)).body).toEqual(within.body);
    const metrics = await (await fetch(new URL('/metrics', strongroom.url))).text();
    expect(metrics).toContain('operations_total{api="graphql",operation="project",code="QUERY_TOO_COMPLEX"} 1');
  });

  test('that changes something has done so, whatever is selected of it', async () => {
    const { admin, project } = await strongroom.seed.project();
    const { body } = await admin.graphql(
      `mutation { updateProject(input: { id: "${project.id}", description: "changed" }) { project { id ${again(4)} } } }`,
    );
    expect(codesOf(body)).toContain('OBJECTS_LIMIT');
    const { data } = (await admin.graphql(`{ project(id: "${project.id}") { description } }`)).body;
    expect(data.project.description).toBe('changed');
  });

  test('of more brackets inside one another than a depth of 6 needs is refused before it is parsed', async () => {
    const query = (n: number) => `{ __typename @include(if: ${'['.repeat(n - 2)}${']'.repeat(n - 2)}) }`;
    expect(await send(query(40))).toBeError(400, 'GRAPHQL_INVALID');
    const refused = await send(query(41));
    expect(refused).toBeError(400, 'QUERY_TOO_COMPLEX');
    expect(detailsOf(refused)).toEqual([
      {
        path: 'query',
        code: 'NESTING_LIMIT',
        message: 'Bracket nesting depth of at least 41 exceeds the limit of 40',
      },
    ]);
  });

  test('over several limits is told all of them, and no word of it is repeated', async () => {
    const query = `query Canary { ${times(6, (n) => `canary${n}: projects(first: 900) { nodes { id } }`)} ${times(21, () => '__typename')} }`;
    const reply = await send(query, { extensions: { cost: true } });
    expect(reply).toBeError(400, 'QUERY_TOO_COMPLEX');
    expect(detailsOf(reply).map(({ code }) => code)).toEqual(['COST_LIMIT', 'ALIASES_LIMIT', 'LEAVES_LIMIT']);
    expect(reply.text).not.toMatch(/canary/i);
    expect(reply.body.extensions.cost).toMatchObject({
      cost: { asked: 6 * 901, allowed: 500 },
      aliases: { asked: 6, allowed: 5 },
      leaves: { asked: 21, allowed: 20 },
      depth: { asked: 3, allowed: 6 },
    });
  });

  test('of several operations is measured by the one that runs in depth and cost, and by all of them in size', async () => {
    const [deep, dear] = [LIMITS.depth?.[1](7), LIMITS.cost?.[1](501)];
    const ask = async (query: string, operationName?: string) => {
      const { body } = await send(query, { operationName, extensions: { cost: true } });
      return { data: body.data, codes: codesOf(body), cost: body.extensions.cost };
    };
    for (const [name, heavy] of Object.entries({ depth: deep, cost: dear })) {
      const both = `query Light { __typename } query Heavy ${heavy}`;
      // In both orders: what was judged for one operation does not hold for the other.
      for (const text of [both, `${both} # again`]) {
        const order = text === both ? ['Light', 'Heavy', 'Light'] : ['Heavy', 'Light', 'Heavy'];
        for (const picked of order) {
          const { data, codes } = await ask(text, picked);
          expect([name, picked, data ?? null, codes]).toEqual(
            picked === 'Light' ? [name, picked, { __typename: 'Query' }, []] : [name, picked, null, [codeOf(name)]],
          );
        }
      }
    }
    for (const name of ['text', 'tokens', 'selections', 'aliases', 'directives', 'fragments', 'branches', 'leaves']) {
      const [allowed, document] = LIMITS[name] as (typeof LIMITS)[string];
      const text = `query Light { __typename } query Heavy ${document(allowed + 1)}`;
      expect([name, (await ask(text, 'Light')).codes]).toEqual([name, expect.arrayContaining([codeOf(name)])]);
    }
  });

  test('of several operations says which one is to run', async () => {
    const two = 'query A { a: __typename } query B { b: __typename }';
    expect((await send(two, { operationName: 'A' })).body).toEqual({ data: { a: 'Query' } });
    expect((await send(two, { operationName: 'B' })).body).toEqual({ data: { b: 'Query' } });
    expect(await send(two)).toBeError(400, 'GRAPHQL_INVALID');
    expect(await send(two, { operationName: 'C' })).toBeError(400, 'GRAPHQL_INVALID');
    const { anonymous } = strongroom.admin;
    const mixed = 'query Open { __typename } query Closed { projects(first: 1) { nodes { id } } }';
    expect((await anonymous.post('/graphql', { query: mixed, operationName: 'Open' })).status).toBe(200);
    expect(await anonymous.post('/graphql', { query: mixed, operationName: 'Closed' })).toBeError(401, 'TOKEN_MISSING');
  });

  test('that does not ask for its cost is not told it', async () => {
    expect((await send('{ __typename }')).body).toEqual({ data: { __typename: 'Query' } });
    expect(
      (await send(LIMITS.depth?.[1](7) as string, { extensions: { cost: false } })).body.extensions,
    ).toBeUndefined();
  });

  test('that is no GraphQL, or does not fit the schema, is told that', async () => {
    expect(await send('{ projects(')).toBeError(400, 'GRAPHQL_SYNTAX');
    expect(await send('{ nothing }')).toBeError(400, 'GRAPHQL_INVALID');
    expect(await send('{ ...F } fragment F on Query { ...G } fragment G on Query { ...F }')).toBeError(
      400,
      'GRAPHQL_INVALID',
    );
    expect(await send('{ ...Unknown }')).toBeError(400, 'GRAPHQL_INVALID');
  });
});

describe('the lengths of lists', () => {
  const strongroom: SharedStrongroom = useSharedStrongroom();
  const costOf = async (query: string, variables?: object): Promise<number> => {
    const reply = await strongroom.admin.post('/graphql', { query, variables, extensions: { cost: true } });
    return reply.body.extensions.cost.cost.asked;
  };
  const PAGE = 'query ($n: Int = 7) { projects(first: $n) { nodes { id } } }';

  test.each<[string, string, object | undefined, number]>([
    ['a literal', '{ projects(first: 20) { nodes { id } } }', undefined, 21],
    ['a variable', PAGE, { n: 20 }, 21],
    ['the default of a variable', PAGE, {}, 8],
    [
      'the default of an argument',
      `{ ${nested(['projects(first: 1)', 'nodes', 'environments', 'secrets', 'nodes', 'reads', 'nodes', '__typename'])} }`,
      undefined,
      1 + 1 + 1 + 1 + 1 + 1 + 10,
    ],
    ['nothing, at the top', '{ projects { nodes { id } } }', undefined, 2],
    ['null, at the top', PAGE, { n: null }, 2],
    ['nothing, inside', '{ projects(first: 10) { nodes { tags { nodes { id } } } } }', undefined, 31],
    [
      'edges and nodes',
      '{ projects(first: 10) { nodes { id } edges { node { id } } pageInfo { endCursor } } }',
      undefined,
      1 + 10 * 4,
    ],
    [
      'a fragment on the connection',
      '{ projects(first: 10) { ...F } } fragment F on ProjectConnection { nodes { id } }',
      undefined,
      11,
    ],
  ])('come from %s', async (_, query, variables, cost) => {
    expect(await costOf(query, variables)).toBe(cost);
  });

  test('the same document costs what its variables say each time', async () => {
    expect([await costOf(PAGE, { n: 1 }), await costOf(PAGE, { n: 500 }), await costOf(PAGE)]).toEqual([2, 501, 8]);
    const pages = 'query ($n: Int) { projects(first: $n) { nodes { members(first: $n) { nodes { id } } } } }';
    expect(await costOf(pages, { n: 100 })).toBe(1 + 100 * (1 + 1 + 100));
    expect(detailsOf(await strongroom.admin.graphql(pages, { n: 200 }))).toMatchObject([{ code: 'COST_LIMIT' }]);
  });

  test('a report of 50 secrets of each of 6 projects with their readers and roles runs', async () => {
    const { admin } = await strongroom.seed.organization();
    for (let count = 0; count < 6; count += 1)
      await strongroom.seed.secrets(admin, await strongroom.seed.projectOf(admin), 'dev', 50);
    const report = `{ projects(first: 6) { nodes { name roles { nodes { slug permissions { subject } } } environments(slugs: ["dev"]) {
      secrets(first: 50) { nodes { secretKey tags { slug } readers { nodes { name user { username } origin { source } } } } } } } } }`;
    const { projects } = await admin.data(report);
    const read = projects.nodes.map(({ environments: [dev] }: { environments: Dev[] }) => dev?.secrets.nodes);
    expect(
      read.map(
        (secrets: { readers: { nodes: unknown[] } }[]) =>
          secrets.filter(({ readers }) => readers.nodes.length > 0).length,
      ),
    ).toEqual(Array(6).fill(50));
  });
  interface Dev {
    readonly secrets: { readonly nodes: unknown[] };
  }

  test('compositions of everything run, products of large pages do not', async () => {
    const whole = `{ projects(first: 100) { nodes { environments { id secrets { nodes { secretKey tags { slug } } } } tags { nodes { slug } } members { nodes { id } } } } }`;
    expect(detailsOfAll(await strongroom.admin.graphql(whole))).toEqual([]);
    const product = '{ projects(first: 1000) { nodes { members(first: 100) { nodes { id } } } } }';
    expect(detailsOfAll(await strongroom.admin.graphql(product))).toEqual(['COST_LIMIT']);
  });

  test('the standard query of the schema runs in all its variants, alone', async () => {
    const options = [
      'descriptions',
      'specifiedByUrl',
      'directiveIsRepeatable',
      'schemaDescription',
      'inputValueDeprecation',
      'oneOf',
    ];
    for (const option of [undefined, ...options]) {
      for (const value of [true, false]) {
        const query = getIntrospectionQuery(option === undefined ? {} : { [option]: value });
        const { status, body } = await strongroom.admin.anonymous.graphql(query);
        expect([option, value, status, body.errors]).toEqual([option, value, 200, undefined]);
      }
    }
    const twice = `${getIntrospectionQuery().replace('__schema {', 'a: __schema { types { ...FullType } } __schema {')}`;
    expect(detailsOfAll(await strongroom.admin.graphql(twice))).toEqual(['INTROSPECTION_COST_LIMIT']);
    const bomb = `{ __schema { types { ${nested([...times(8, () => 'fields type').split(' '), 'name'])} } } }`;
    expect(detailsOfAll(await strongroom.admin.graphql(bomb))).toEqual(['INTROSPECTION_COST_LIMIT']);
  });

  test('the limits are those of the table without a setting', async () => {
    const { body } = await strongroom.admin.post('/graphql', { query: '{ __typename }', extensions: { cost: true } });
    const allowed = Object.entries(body.extensions.cost).map(([name, share]) => [
      name,
      (share as { allowed: number }).allowed,
    ]);
    expect(Object.fromEntries(allowed)).toEqual({
      text: 32_768,
      tokens: 2_000,
      nesting: 64,
      depth: 12,
      selections: 2_000,
      cost: 20_000,
      objects: 20_000,
      aliases: 30,
      directives: 20,
      fragments: 30,
      operations: 10,
      branches: 10,
      leaves: 50,
      introspectionDepth: 20,
      introspectionCost: 200_000,
    });
  });
});

const detailsOfAll = (reply: Reply): string[] =>
  (reply.body.errors ?? []).flatMap((error: { extensions: { code: string; details?: { code: string }[] } }) =>
    error.extensions.code === 'QUERY_TOO_COMPLEX'
      ? (error.extensions.details ?? []).map(({ code }) => code)
      : [error.extensions.code],
  );
