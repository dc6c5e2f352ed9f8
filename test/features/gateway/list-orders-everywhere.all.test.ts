import { type Caller, mustSucceed } from '../../kit/caller.js';
import { sample } from '../../kit/scope.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';
import { makeScene, type Scene } from './ordered-scene.js';

interface Row {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

interface Page {
  readonly nodes: readonly Row[];
  readonly pageInfo: { readonly endCursor: string; readonly hasNextPage: boolean };
  readonly totalCount?: number;
}

interface List {
  /** Asks for `$LIST`, in whose place the field stands; absent: the field is at the root. */
  readonly inside?: string;
  readonly field: string;
  /** Arguments of the field. */
  readonly of?: string;
  /** How it calls what is `NAME`. */
  readonly name?: string;
  /** Where the times of its rows are, if the interface does not have them. */
  readonly table?: 'tag' | 'organization_membership';
  /** It has no `totalCount`: nobody knows how many rows a caller may see without reading them. */
  readonly isNotCounted?: true;
  /** Its usual order is that by name, with the same cursors. */
  readonly isByName?: true;
}

const IN_PROJECT = 'project(id: $project) { $LIST }';
const LISTS: readonly List[] = [
  { field: 'groups', isByName: true },
  { field: 'groups', inside: 'user(id: $user) { $LIST }', isByName: true },
  { field: 'organizationMembers', table: 'organization_membership', isByName: true },
  { field: 'projectMemberships', of: 'projectId: $project', isByName: true },
  { field: 'members', inside: IN_PROJECT, isByName: true },
  { field: 'projectTemplates' },
  { field: 'projectTemplates', of: 'type: SECRET_MANAGER' },
  { field: 'tags', of: 'projectId: $project', name: 'slug', table: 'tag' },
  { field: 'tags', inside: IN_PROJECT, name: 'slug', table: 'tag' },
  { field: 'certificateAlerts', of: 'projectId: $project' },
  { field: 'certificateAlerts', inside: IN_PROJECT },
  { field: 'notificationChannels', of: 'projectId: $project', isByName: true },
  { field: 'changeWebhooks', of: 'projectId: $project', isByName: true },
  { field: 'auditSinks', isByName: true },
  { field: 'identityAlerts', of: 'projectId: $project' },
  { field: 'projectRoles', of: 'projectId: $project' },
  { field: 'roles', inside: IN_PROJECT },
  { field: 'organizationRoles' },
  { field: 'projectIdentities', of: 'projectId: $project', isByName: true },
  { field: 'projects', inside: 'organization { $LIST }', isByName: true },
  {
    field: 'secrets',
    of: 'projectId: $project, environment: "dev", recursive: true',
    name: 'secretKey',
    isNotCounted: true,
    isByName: true,
  },
];

const nameOf = ({ inside = '', field, of = '' }: List): string => [inside.split('(')[0], field, of].join(' ').trim();
const NAMED = LISTS.map((list) => [nameOf(list), list] as const);
const ORDERS = ['NAME', 'CREATED_AT', 'UPDATED_AT'].flatMap((field) =>
  ['ASC', 'DESC'].map((direction) => ({ field, direction })),
);

/** What every list is asked for. @param args of the list, beside its own */
function documentOf({ inside = '$LIST', field, of = '', name = 'name', table, isNotCounted }: List): string {
  const times = table === undefined ? 'createdAt updatedAt' : '';
  const list = `list: ${field}(first: $first, after: $after, orderBy: $orderBy, updatedSince: $since ${of}) {
    nodes { id name: ${name} ${times} } pageInfo { endCursor hasNextPage } ${isNotCounted ? '' : 'totalCount'}
  }`;
  const needs = ['project', 'user'].filter((thing) => `${inside} ${of}`.includes(`$${thing}`));
  return `query (${needs.map((thing) => `$${thing}: ID!`).join(' ')}
    $first: Int, $after: String, $orderBy: ListOrderInput, $since: DateTime) { ${inside.replace('$LIST', list)} }`;
}

const strongroom = useSharedStrongroom();

/** A list as one caller asks for it. */
class Asked {
  readonly #document: string;

  constructor(
    readonly list: List,
    readonly caller: Caller,
    readonly scene: Omit<Scene, 'other'>,
  ) {
    this.#document = documentOf(list);
  }

  send = (args: object = {}) => {
    const { project, user } = this.scene;
    const known = Object.entries({ project, user }).filter(([thing]) => this.#document.includes(`$${thing}: ID!`));
    return this.caller.graphql(this.#document, { ...Object.fromEntries(known), ...args });
  };

  page = async (args: object = {}): Promise<Page> => {
    const { data } = mustSucceed(await this.send(args)).body;
    const page: Page = data.list ?? (Object.values(data)[0] as { list: Page }).list;
    return this.list.table === undefined
      ? page
      : { ...page, nodes: await this.#withTimes(page.nodes, this.list.table) };
  };

  async #withTimes(nodes: readonly Row[], table: string): Promise<Row[]> {
    const ids = nodes.map(({ id }) => id);
    const sql = `select id, created_at as "createdAt", updated_at as "updatedAt" from ${table} where id = any($1::uuid[])`;
    const times = new Map((await strongroom.sql(sql, [ids])).map((row) => [row.id, row]));
    const iso = (value: unknown): string => new Date(value as string).toISOString();
    return nodes.map((node) => {
      const { createdAt, updatedAt } = times.get(node.id) as Record<string, unknown>;
      return { ...node, createdAt: iso(createdAt), updatedAt: iso(updatedAt) };
    });
  }

  /** Ids of all rows, from pages of three. */
  async walk(args: object): Promise<string[]> {
    const ids: string[] = [];
    for (let after: string | null = null, more = true; more && ids.length < 100; ) {
      const next: Page = await this.page({ ...args, first: 3, after });
      ids.push(...next.nodes.map(({ id }) => id));
      ({ endCursor: after, hasNextPage: more } = next.pageInfo as never);
    }
    return ids;
  }
}

const idsOf = (nodes: readonly Row[]): string[] => nodes.map(({ id }) => id);

/** What rows sort by, as text. */
function keyOf(row: Row, { field }: { field: string }): string {
  if (field === 'NAME') return row.name;
  return field === 'CREATED_AT' ? row.createdAt : row.updatedAt;
}

function sorted(nodes: readonly Row[], order: { field: string; direction: string }): string[] {
  const up = nodes.toSorted((one, other) => {
    const [a, b] = [keyOf(one, order), keyOf(other, order)];
    if (a === b) return one.id < other.id ? -1 : 1;
    return a < b ? -1 : 1;
  });
  return idsOf(order.direction === 'ASC' ? up : up.toReversed());
}

let scene: Scene;

beforeAll(async () => {
  scene = await makeScene(strongroom);
});

describe.each(sample(NAMED, 4))('%s', (_, list) => {
  let asked: Asked;

  beforeAll(() => {
    asked = new Asked(list, scene.admin, scene);
  });

  test('comes in every order, whole and in pages, which have each row once', async () => {
    const usual = await asked.page();
    expect(usual.nodes.length).toBeGreaterThan(2);
    expect(await asked.walk({})).toEqual(idsOf(usual.nodes));
    for (const orderBy of ORDERS) {
      const { nodes } = await asked.page({ orderBy });
      expect(idsOf(nodes)).toEqual(sorted(usual.nodes, orderBy));
      expect(await asked.walk({ orderBy })).toEqual(idsOf(nodes));
    }
    if (list.isByName) expect(sorted(usual.nodes, { field: 'NAME', direction: 'ASC' })).toEqual(idsOf(usual.nodes));
  });

  test('refuses a cursor of another order', async () => {
    const orders = [undefined, ...ORDERS];
    const isSame = (one: (typeof orders)[number], other: (typeof orders)[number]) =>
      one === other ||
      (list.isByName === true && [one, other].every((order) => order === undefined || order === ORDERS[0]));
    for (const orderBy of orders) {
      const { endCursor: after } = (await asked.page({ orderBy, first: 1 })).pageInfo;
      // Each of two others, so that all are tried both ways.
      const others = [...orders, ...orders]
        .slice(orders.indexOf(orderBy) + 1)
        .filter((order) => !isSame(order, orderBy));
      for (const other of others.slice(0, 2)) {
        const refused = await asked.send({ orderBy: other, first: 1, after });
        expect(refused).toBeError(422, 'VALIDATION_FAILED');
        expect(refused.body.errors[0].extensions.details).toMatchObject([{ path: 'after', code: 'INVALID_CURSOR' }]);
      }
    }
    for (const key of [
      ['UPDATED_AT ASC', 'no time', scene.project],
      ['UPDATED_AT ASC', new Date().toISOString(), 'x'],
    ]) {
      const after = Buffer.from(JSON.stringify(key)).toString('base64url');
      const orderBy = { field: 'UPDATED_AT', direction: 'ASC' };
      expect(await asked.send({ orderBy, first: 1, after })).toBeError(422, 'VALIDATION_FAILED');
    }
  });

  test('has what changed since a moment, which counts, in any order and in pages', async () => {
    const { nodes, totalCount } = await asked.page();
    const times = [...new Set(nodes.map(({ updatedAt }) => updatedAt))].sort();
    // Ids are random, and times go by ids: now and then all have the same.
    for (const since of [...times.slice(-2), '2001-01-01T00:00:00.000Z']) {
      const changed = nodes.filter(({ updatedAt }) => updatedAt >= since);
      const found = await asked.page({ since });
      expect(idsOf(found.nodes)).toEqual(idsOf(changed));
      expect(found.totalCount).toBe(totalCount);
      expect(await asked.walk({ since })).toEqual(idsOf(changed));
      const orderBy = { field: 'CREATED_AT', direction: 'DESC' };
      expect(await asked.walk({ since, orderBy })).toEqual(sorted(changed, orderBy));
    }
    const later = new Date(Date.parse(times.at(-1) as string) + 1).toISOString();
    expect((await asked.page({ since: later })).nodes).toEqual([]);
  });

  test('counts its own rows on whatever page, none of a stranger, and is not counted for one', async () => {
    const { nodes } = await asked.page();
    for (const orderBy of [undefined, ORDERS[5]]) {
      const { totalCount } = await asked.page({ orderBy, first: 1 });
      expect(totalCount).toBe(list.isNotCounted ? undefined : nodes.length);
    }
    const { other } = scene;
    const theirs = await new Asked(list, other.admin, other).page();
    expect(idsOf(theirs.nodes).filter((id) => idsOf(nodes).includes(id))).toEqual([]);
    const refused = await new Asked(list, other.admin, scene).send();
    if (list.of?.includes('$') || list.inside?.includes('$project') || list.inside?.includes('$user'))
      expect(refused.body.errors[0].extensions.code).toMatch(/_NOT_FOUND$/);
  });

  test('takes no more statements in another order, and one more where rows are counted that were not read', async () => {
    const document = documentOf(list);
    const ask = async (args: object, withCount: boolean) => {
      const text = withCount ? document : document.replace('totalCount', '');
      const { project, user } = scene;
      const known = Object.entries({ project, user }).filter(([thing]) => document.includes(`$${thing}: ID!`));
      const variables = { ...Object.fromEntries(known), first: 2, ...args };
      await scene.admin.data(text, variables);
      return (await strongroom.statements(() => scene.admin.data(text, variables))).count;
    };
    const usual = await ask({}, false);
    const orderBy = { field: 'UPDATED_AT', direction: 'DESC' };
    expect(await ask({ orderBy, since: '2001-01-01T00:00:00Z' }, false)).toBeLessThanOrEqual(usual);
    expect(await ask({ orderBy }, true)).toBeLessThanOrEqual(usual + 1);
  });
});

describe('access tokens', () => {
  test.each([
    [
      'accessTokens',
      'accessTokens(first: 10, updatedSince: $since, identityId: $id) { nodes { id updatedAt } totalCount }',
    ],
    [
      'Identity.accessTokens',
      'identity(id: $id) { accessTokens(updatedSince: $since) { nodes { id updatedAt } totalCount } }',
    ],
  ])('can be had as far as they changed since a moment: %s', async (_, fields) => {
    const { admin } = await strongroom.seed.organization();
    const { identityId: id } = await strongroom.seed.caller(admin);
    for (let made = 0; made < 2; made += 1)
      mustSucceed(await admin.post(`/api/v1/auth/token-auth/identities/${id}/tokens`, {}));
    await strongroom.sql(
      `update access_token set updated_at = now() - interval '1 day' where id in
      (select id from access_token where identity_id = $1 order by id limit 2)`,
      [id],
    );
    const ask = async (since: string | null) => {
      const data = await admin.data(`query ($id: ID!, $since: DateTime) { ${fields} }`, { id, since });
      return (data.accessTokens ?? data.identity.accessTokens) as Page;
    };
    const all = await ask(null);
    expect(all).toMatchObject({ totalCount: 3, nodes: [{}, {}, {}] });
    const [newest] = all.nodes;
    expect(await ask(newest?.updatedAt as string)).toEqual({ totalCount: 3, nodes: [newest] });
  });

  test('are those of a user too', async () => {
    const { admin } = await strongroom.seed.organization();
    const { userId } = await strongroom.seed.user(admin);
    const ask = async (since: Date) => {
      const document = `query ($id: ID!, $since: DateTime) { personalAccessTokens(userId: $id, updatedSince: $since) { nodes { id } totalCount } }`;
      return (await admin.data(document, { id: userId, since: since.toISOString() })).personalAccessTokens;
    };
    expect(await ask(new Date(0))).toMatchObject({ totalCount: 1, nodes: [{}] });
    expect(await ask(new Date(Date.now() + 3_600_000))).toEqual({ totalCount: 1, nodes: [] });
  });
});
