import { randomUUID } from 'node:crypto';
import { useSharedStrongroom } from '../../kit/strongroom.ts';

const INNER = '... on Environment { secrets(first: 30) { nodes { id } } }';
const idsOf = (count: number): string[] => Array.from({ length: count }, () => randomUUID());

describe('a document that names the things that it asks for', () => {
  const strongroom = useSharedStrongroom();

  const post = (query: string, variables = {}) =>
    strongroom.admin.post('/graphql', { query, variables, extensions: { cost: true } });
  const costOf = async (query: string, variables = {}): Promise<number> =>
    (await post(query, variables)).body.extensions.cost.cost.asked;

  test('costs as much as it names, in its text or in variables', async () => {
    const asked = `query ($ids: [ID!]!) { nodes(ids: $ids) { ${INNER} } }`;
    const written = (count: number): string => `{ nodes(ids: [${idsOf(count).map((id) => `"${id}"`)}]) { ${INNER} } }`;
    const each = 1 + 1 + 30;
    for (const count of [1, 7, 300]) expect(await costOf(asked, { ids: idsOf(count) })).toBe(count * each);
    for (const count of [1, 7, 300]) expect(await costOf(written(count))).toBe(count * each);
    const refused = await post(asked, { ids: idsOf(1_000) });
    expect(refused).toBeError(400, 'QUERY_TOO_COMPLEX');
  });
});
