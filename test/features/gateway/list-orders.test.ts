import { type Caller, mustSucceed } from '../../kit/caller.js';
import { useSharedStrongroom } from '../../kit/strongroom.js';

const LISTS = ['identities', 'users', 'projects'] as const;
type List = (typeof LISTS)[number];
const NAMES = { identities: 'name', users: 'username', projects: 'name' } as const;
const ORDERS = ['NAME', 'CREATED_AT', 'UPDATED_AT'].flatMap((field) =>
  ['ASC', 'DESC'].map((direction) => ({ field, direction })),
);

interface Row {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

const ask = (caller: Caller, list: List, args: Record<string, unknown>) =>
  caller.graphql(
    `query ($first: Int, $after: String, $orderBy: ListOrderInput, $updatedSince: DateTime) {
      ${list}(first: $first, after: $after, orderBy: $orderBy, updatedSince: $updatedSince) {
        nodes { id name: ${NAMES[list]} createdAt updatedAt } pageInfo { endCursor hasNextPage }
      }
    }`,
    args,
  );
const page = async (caller: Caller, list: List, args: Record<string, unknown> = {}) =>
  mustSucceed(await ask(caller, list, args)).body.data[list] as {
    nodes: Row[];
    pageInfo: { endCursor: string; hasNextPage: boolean };
  };

describe('lists in an order', () => {
  const strongroom = useSharedStrongroom();
  let admin: Caller;

  beforeAll(async () => {
    ({ admin } = await strongroom.seed.organization());
    for (let index = 0; index < 3; index += 1) {
      await strongroom.seed.projectOf(admin, { projectName: `project ${(index * 2) % 3}` });
      await strongroom.seed.caller(admin);
      await strongroom.seed.user(admin);
    }
    const { nodes } = await page(admin, 'projects');
    await admin.data('mutation ($input: UpdateProjectInput!) { updateProject(input: $input) { project { id } } }', {
      input: { id: nodes[1]?.id, description: 'changed' },
    });
  });

  const keyOf = (row: Row, field: string): string =>
    field === 'NAME' ? row.name : field === 'CREATED_AT' ? row.createdAt : row.updatedAt;

  test.each(LISTS)('%s come by name, by when they were made and by when they changed, up and down', async (list) => {
    for (const orderBy of ORDERS) {
      const { nodes } = await page(admin, list, { orderBy });
      const sorted = nodes.toSorted((a, b) => {
        const [one, other] = [a, b].map((row) => `${keyOf(row, orderBy.field)} ${row.id}`) as [string, string];
        return (one < other ? -1 : 1) * (orderBy.direction === 'ASC' ? 1 : -1);
      });
      expect(nodes.map(({ id }) => id)).toEqual(sorted.map(({ id }) => id));
      expect(nodes.length).toBeGreaterThan(2);
      const paged: string[] = [];
      for (let after: string | null = null, more = true; more; ) {
        const next: Awaited<ReturnType<typeof page>> = await page(admin, list, { orderBy, first: 2, after });
        paged.push(...next.nodes.map(({ id }) => id));
        ({ endCursor: after, hasNextPage: more } = next.pageInfo);
      }
      expect(paged).toEqual(nodes.map(({ id }) => id));
    }
    expect((await page(admin, list)).nodes).toEqual((await page(admin, list, { orderBy: ORDERS[0] })).nodes);
  });

  test.each(LISTS)('a cursor of one order of %s is refused under another', async (list) => {
    for (const orderBy of ORDERS) {
      const { endCursor: after } = (await page(admin, list, { orderBy, first: 1 })).pageInfo;
      for (const other of ORDERS.filter((order) => order !== orderBy)) {
        const refused = await ask(admin, list, { orderBy: other, first: 1, after });
        expect(refused).toBeError(422, 'VALIDATION_FAILED');
        expect(refused.body.errors[0].extensions.details).toMatchObject([{ path: 'after', code: 'INVALID_CURSOR' }]);
      }
    }
    for (const key of [
      ['UPDATED_AT ASC', 'no time', admin.identityId],
      ['UPDATED_AT ASC', new Date().toISOString(), 'x'],
    ]) {
      const after = Buffer.from(JSON.stringify(key)).toString('base64url');
      const orderBy = { field: 'UPDATED_AT', direction: 'ASC' };
      expect(await ask(admin, list, { orderBy, first: 1, after })).toBeError(422, 'VALIDATION_FAILED');
    }
  });

  test.each(LISTS)('%s can be had as far as they changed since a moment, which counts', async (list) => {
    const orderBy = { field: 'UPDATED_AT', direction: 'DESC' };
    const { nodes } = await page(admin, list, { orderBy });
    const [last] = nodes as [Row];
    const since = await page(admin, list, { updatedSince: last.updatedAt });
    const expected = nodes.filter(({ updatedAt }) => updatedAt >= last.updatedAt).map(({ id }) => id);
    expect(since.nodes.map(({ id }) => id).sort()).toEqual(expected.sort());
    const later = new Date(Date.parse(last.updatedAt) + 1).toISOString();
    expect((await page(admin, list, { updatedSince: later, orderBy })).nodes).toEqual([]);
    expect((await page(admin, list, { updatedSince: '2001-01-01T00:00:00Z' })).nodes).toHaveLength(nodes.length);
  });
});
