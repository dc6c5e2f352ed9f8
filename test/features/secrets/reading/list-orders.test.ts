import { type Caller, mustSucceed } from '../../../kit/caller.js';
import { callerWithRules } from '../../../kit/rules.js';
import { useSharedStrongroom } from '../../../kit/strongroom.js';
import { Tree } from '../tree.js';

interface Row {
  readonly id: string;
  readonly secretPath: string;
  readonly secretKey: string;
  readonly type: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

const ORDERS = ['NAME', 'CREATED_AT', 'UPDATED_AT'].flatMap((field) =>
  ['ASC', 'DESC'].map((direction) => ({ field, direction })),
);
const LIST = `query ($id: ID!, $first: Int, $after: String, $orderBy: ListOrderInput, $updatedSince: DateTime) {
  environment(id: $id) {
    secrets(recursive: true, first: $first, after: $after, orderBy: $orderBy, updatedSince: $updatedSince) {
      nodes { id secretPath secretKey type createdAt updatedAt } pageInfo { endCursor hasNextPage }
    }
  }
}`;

describe('secrets in an order', () => {
  const strongroom = useSharedStrongroom();
  let tree: Tree;
  let user: Caller;
  let environmentId: string;

  const ask = (args: object, caller = user) => caller.graphql(LIST, { id: environmentId, ...args });
  const page = async (args: object = {}, caller = user) =>
    mustSucceed(await ask(args, caller)).body.data.environment.secrets as {
      nodes: Row[];
      pageInfo: { endCursor: string; hasNextPage: boolean };
    };
  const pagesOf = async (args: object, caller = user): Promise<string[]> => {
    const ids: string[] = [];
    for (let after: string | null = null, more = true; more; ) {
      const next: Awaited<ReturnType<typeof page>> = await page({ ...args, first: 2, after }, caller);
      ids.push(...next.nodes.map(({ id }) => id));
      ({ endCursor: after, hasNextPage: more } = next.pageInfo);
    }
    return ids;
  };
  const lines = (nodes: readonly Row[]) =>
    nodes.map(({ secretPath, secretKey, type }) => `${secretPath} ${secretKey} ${type}`);

  beforeAll(async () => {
    tree = await Tree.plant(strongroom);
    [{ id: environmentId }] = tree.project.environments;
    await tree.put('/', { B: '1', D: '1' });
    await tree.folder('/a');
    await tree.put('/a', { C: '1' });
    await tree.put('/', { A: '1' });
    user = await strongroom.seed.user(tree.admin, { project: tree.project.id, projectRoles: ['member'] });
    const place = { projectId: tree.project.id, environment: 'dev' };
    mustSucceed(await user.post('/api/v4/secrets/D', { ...place, type: 'personal', secretValue: 'mine' }));
    mustSucceed(await tree.admin.patch('/api/v4/secrets/B', { ...place, secretValue: '2' }));
  });

  test('come by path and key, by when they were made and by when they changed, up and down, with own values', async () => {
    const byName = ['/ A SHARED', '/ B SHARED', '/ D SHARED', '/ D PERSONAL', '/a C SHARED'];
    expect(lines((await page()).nodes)).toEqual(byName);
    for (const orderBy of ORDERS) {
      const { nodes } = await page({ orderBy });
      const field = { NAME: '', CREATED_AT: 'createdAt', UPDATED_AT: 'updatedAt' }[orderBy.field] as keyof Row | '';
      const keyOf = (row: Row) => (field === '' ? `${row.secretPath}\n${row.secretKey}` : `${row[field]} ${row.id}`);
      const shared = nodes.filter(({ type }) => type === 'SHARED');
      const sorted = shared.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
      expect(shared).toEqual(orderBy.direction === 'ASC' ? sorted : sorted.toReversed());
      const own = nodes.findIndex(({ type }) => type === 'PERSONAL');
      expect(lines(nodes.slice(own - 1, own + 1))).toEqual(['/ D SHARED', '/ D PERSONAL']);
      expect(nodes).toHaveLength(5);
      expect(await pagesOf({ orderBy })).toEqual(nodes.map(({ id }) => id));
    }
    const { nodes } = await page({ orderBy: { field: 'UPDATED_AT', direction: 'DESC' } });
    expect(lines(nodes.slice(0, 1))).toEqual(['/ B SHARED']);
  });

  test('come in pages of what rules about single secrets let a caller know of', async () => {
    const { caller } = await callerWithRules(
      strongroom,
      tree.admin,
      tree.project.id,
      { subject: 'environments', action: 'read' },
      { subject: 'secrets', action: 'describeSecret', conditions: { secretName: { $ne: 'B' } } },
    );
    for (const orderBy of ORDERS) {
      const { nodes } = await page({ orderBy }, caller);
      expect(lines(nodes).sort()).toEqual(['/ A SHARED', '/ D SHARED', '/a C SHARED']);
      expect(await pagesOf({ orderBy }, caller)).toEqual(nodes.map(({ id }) => id));
    }
  });

  test('have cursors that another order, and another kind of value, refuses', async () => {
    for (const orderBy of ORDERS) {
      const { endCursor: after } = (await page({ orderBy, first: 1 })).pageInfo;
      for (const other of ORDERS.filter((order) => order !== orderBy))
        expect(await ask({ orderBy: other, first: 1, after })).toBeError(422, 'VALIDATION_FAILED');
    }
    const orderBy = { field: 'UPDATED_AT', direction: 'ASC' };
    for (const key of [
      ['UPDATED_AT ASC', 'no time', environmentId, 'shared'],
      ['UPDATED_AT ASC', new Date().toISOString(), 'x', 'shared'],
      ['UPDATED_AT ASC', new Date().toISOString(), environmentId, 'none'],
    ]) {
      const after = Buffer.from(JSON.stringify(key)).toString('base64url');
      expect(await ask({ orderBy, first: 1, after })).toBeError(422, 'VALIDATION_FAILED');
    }
  });

  test('can be had as far as they, or own values of them, changed since a moment, which counts', async () => {
    const { nodes } = await page({ orderBy: { field: 'UPDATED_AT', direction: 'DESC' } });
    const at = (line: string) => nodes[lines(nodes).indexOf(line)]?.updatedAt as string;
    const since = async (updatedSince: string, caller = user) => lines((await page({ updatedSince }, caller)).nodes);
    expect(await since(at('/ B SHARED'))).toEqual(['/ B SHARED']);
    expect(await since(at('/ D PERSONAL'))).toEqual(['/ B SHARED', '/ D SHARED', '/ D PERSONAL']);
    expect(await since(at('/ D PERSONAL'), tree.admin)).toEqual(['/ B SHARED']);
    expect(await since(new Date(Date.parse(at('/ B SHARED')) + 1).toISOString())).toEqual([]);
  });

  test('take as many statements in many environments and folders as in one', async () => {
    const inFolders =
      '{ folders { nodes { secrets(first: 1, orderBy: { field: UPDATED_AT }, updatedSince: "2001-01-01T00:00:00Z") { nodes { secretKey } } } } }';
    const inEnvironments =
      '{ secrets(first: 2, orderBy: { field: CREATED_AT, direction: DESC }) { nodes { secretKey } } }';
    const other = await Tree.plant(strongroom);
    for (const environment of ['dev', 'staging', 'prod'])
      for (const path of ['/a', '/b']) {
        await other.folder(path, environment);
        await other.put(path, { X: '1' }, environment);
      }
    await other.put('/', { Z: '1' }, 'prod');
    for (const [nested, expected] of [
      [inFolders, Array(3).fill({ folders: { nodes: Array(2).fill({ secrets: { nodes: [{ secretKey: 'X' }] } }) } })],
      [inEnvironments, [[], [], [{ secretKey: 'Z' }]].map((nodes) => ({ secrets: { nodes } }))],
    ] as const) {
      const document = `query ($id: ID!, $slugs: [String!]) { project(id: $id) { environments(slugs: $slugs) ${nested} } }`;
      const ask = (slugs: readonly string[]) =>
        strongroom.statements(() => other.admin.data(document, { id: other.project.id, slugs }));
      const [one, three] = [await ask(['prod']), await ask(['dev', 'staging', 'prod'])];
      expect(three.result.project.environments).toEqual(expected);
      expect(three.count).toBe(one.count);
    }
  });
});
