import { buildSchema, parse } from 'graphql';
import { analyse, excessOf } from '../../../src/kernel/graphql/gate/analyse.js';
import { CostModel } from '../../../src/kernel/graphql/gate/cost.js';
import { allowedNesting, DEFAULT_LIMITS } from '../../../src/kernel/graphql/gate/limits.js';
import { type DocumentMeasure, measureDocument } from '../../../src/kernel/graphql/gate/measure.js';
import fc from '../../kit/properties.js';

const schema = buildSchema(`
  type Query { node: Node nodes(first: Int = 20): [Node!]! page(first: Int): NodeConnection! ping: String }
  type Mutation { change: Node }
  type Node { id: ID node: Node list: [Node] some(limit: Int): [Node] page(first: Int): NodeConnection }
  type NodeConnection { nodes: [Node] edges: [Edge] pageInfo: PageInfo }
  type Edge { node: Node cursor: String }
  type PageInfo { hasNextPage: Boolean }
`);
const model = new CostModel(schema);
const measure = (text: string, variables = {}, budget = 1_000_000): DocumentMeasure =>
  measureDocument(parse(text), { variables }, model, budget);
const chosen = ({ selections, depth, cost, aliases, directives, branches, leaves }: DocumentMeasure) => ({
  selections,
  depth,
  cost,
  aliases,
  directives,
  branches,
  leaves,
});

/** A selection of a node: a text, or one that stands in a fragment on nodes. */
type Selection =
  | { readonly text: string }
  | { readonly field: string; readonly inside: readonly Selection[] }
  | { readonly part: readonly Selection[] };

const FIELDS = ['node', 'a: node', 'list', 'some(limit: 2)', 'some(limit: $n)', 'b: some'];
const selection: fc.Arbitrary<Selection> = fc.letrec<{ one: Selection; some: Selection[] }>((tie) => ({
  one: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom({ text: 'id' }, { text: 'x: id' }, { text: 'id @include(if: true)' }),
    fc.record({ field: fc.constantFrom(...FIELDS), inside: tie('some') }),
    fc.record({ part: tie('some') }),
  ),
  some: fc.array(tie('one'), { minLength: 1, maxLength: 3 }),
})).one;

/** The document twice: what is in parts stands in place, and in fragments that are spread. */
function written(root: Selection): { inline: string; spread: string } {
  const fragments: string[] = [];
  const inPlace = (each: Selection): string => {
    if ('text' in each) return each.text;
    if ('field' in each) return `${each.field} { ${each.inside.map(inPlace).join(' ')} }`;
    return `... on Node { ${each.part.map(inPlace).join(' ')} }`;
  };
  const apart = (each: Selection): string => {
    if ('text' in each) return each.text;
    if ('field' in each) return `${each.field} { ${each.inside.map(apart).join(' ')} }`;
    const body = each.part.map(apart).join(' ');
    fragments.push(`fragment F${fragments.length} on Node { ${body} }`);
    return `...F${fragments.length - 1}`;
  };
  const head = 'query ($n: Int = 4) { node { ';
  return { inline: `${head}${inPlace(root)} } }`, spread: `${head}${apart(root)} } } ${fragments.join(' ')}` };
}

describe('the measure of a document', () => {
  test('is the same whether its parts stand in place or in fragments', () => {
    fc.assert(
      fc.property(selection, fc.integer({ min: 0, max: 50 }), (root, n) => {
        const { inline, spread } = written(root);
        expect(chosen(measure(spread, { n }))).toEqual(chosen(measure(inline, { n })));
      }),
      { numRuns: 500 },
    );
  });

  test('of a document without fragments counts what a plain walk counts', () => {
    const count = (each: Selection): { fields: number; depth: number } => {
      if ('text' in each) return { fields: 1, depth: 1 };
      const inside = ('field' in each ? each.inside : each.part).map(count);
      const below = Math.max(...inside.map(({ depth }) => depth));
      return {
        fields: 1 + inside.reduce((sum, { fields }) => sum + fields, 0),
        depth: 'field' in each ? below + 1 : below,
      };
    };
    fc.assert(
      fc.property(selection, (root) => {
        const { fields, depth } = count(root);
        expect(measure(written(root).inline)).toMatchObject({ selections: fields + 1, depth: depth + 1 });
      }),
    );
  });

  test.each([
    ['{ ping }', 0],
    ['{ node { id } }', 1],
    ['{ node { node { id } } }', 2],
    ['{ nodes { id } }', 20],
    ['{ nodes(first: 5) { list { id } } }', 5 + 5],
    ['{ page { nodes { id } } }', 1 + 1],
    [
      '{ page(first: 7) { nodes { list { id } } edges { node { id } } pageInfo { hasNextPage } } }',
      1 + 7 * 2 + 7 * 2 + 7,
    ],
    ['{ node { page { nodes { id } } } }', 2 + 1],
    ['{ nodes(first: 4) { page(first: 6) { nodes { id } } } }', 4 + 4 + 24],
    ['{ nodes(first: 0) { list { id } } }', 0],
    ['mutation { change { id } }', 1],
    ['{ nodes(first: -3) { id } }', 0],
    ['{ nodes(first: "many") { id } }', 1],
    ['{ unknown { id } }', 1],
  ])('of %s costs %i', (text, cost) => expect(measure(text).cost).toBe(cost));

  test('of fragments that double each other is their power of two, counted at once, and stops at the highest whole number', () => {
    const doubling = (count: number) =>
      `{ node { ...F0 } } ${Array.from({ length: count }, (_, n) => `fragment F${n} on Node { a: node { ...F${n + 1} } b: node { ...F${n + 1} } }`).join(' ')} fragment F${count} on Node { id }`;
    expect(measure(doubling(10), {}, 2_000)).toMatchObject({ cost: 2 ** 11 - 1, depth: 12, aliases: 2 ** 11 - 2 });
    expect(measure(doubling(500), {}, 2_000)).toMatchObject({ cost: Number.MAX_SAFE_INTEGER, depth: 502 });
    expect(
      measure(`{ nodes(first: 2147483647) { some(limit: 2147483647) { some(limit: 2147483647) { id } } } }`).cost,
    ).toBe(Number.MAX_SAFE_INTEGER);
  });

  test('of a chain of 20,000 fragments, of cycles and of unknown fragments has an end', () => {
    const chain = Array.from({ length: 20_000 }, (_, n) => `fragment F${n} on Query { ...F${n + 1} }`).join(' ');
    expect(measure(`{ ...F0 } ${chain}`)).toMatchObject({ fragments: 20_000, depth: 0, selections: 20_001 });
    const cycles =
      '{ ...A } fragment A on Query { node { ...B } ...A } fragment B on Node { node { ...B } ...Unknown }';
    expect(measure(cycles, {}, 2_000)).toMatchObject({ fragments: 2, operations: 1 });
  });

  test('counts fragments that nothing reaches, and all that share a name', () => {
    const heavy = `{ ${'id '.repeat(60)} }`;
    expect(measure(`{ ping } fragment F on Node ${heavy}`)).toMatchObject({ selections: 61, leaves: 60 });
    expect(measure(`{ node { ...F } } fragment F on Node ${heavy} fragment F on Node { id }`)).toMatchObject({
      selections: 63,
      leaves: 60,
    });
    expect(
      measure(`{ ping } fragment A on Node { ...B } fragment B on Node { ...A ${'id '.repeat(60)} }`).leaves,
    ).toBeGreaterThanOrEqual(60);
  });

  test('takes depth and cost of the operation that is picked, with its variables, and all else of the whole document', () => {
    const text = `query A($n: Int = 2) { ...F } query B($n: Int = 50) { node { ...G } ...F }
      fragment F on Query { nodes(first: $n) { id } } fragment G on Node { node { node { id } } }`;
    const of = (operationName?: string) => measureDocument(parse(text), { operationName }, model, 1_000);
    expect(of('A')).toMatchObject({ cost: 2, depth: 2, selections: 11, operations: 2, dependsOnRequest: true });
    expect(of('B')).toMatchObject({ cost: 53, depth: 4, selections: 11, operations: 2 });
    expect(of()).toMatchObject({ depth: 4, selections: 11, operations: 2 });
    expect(of().cost).toBeGreaterThanOrEqual(of('A').cost + of('B').cost - 48);
    expect(of('Unknown')).toEqual(of());
  });

  test('counts fields in one place of the answer through fragments and aliases', () => {
    expect(measure('{ node { id } ...F x: node { id } } fragment F on Query { node { id } x: ping }')).toMatchObject({
      branches: 2,
      leaves: 2,
    });
    expect(measure('{ node { node { id } } node { node { id } node { id id } } }')).toMatchObject({
      branches: 3,
      leaves: 4,
    });
  });
});

describe('a text', () => {
  const violation = (text: string, limits = DEFAULT_LIMITS) => excessOf(analyse(text, {}, limits, model).shares);

  test('is never parsed when it is too long, has too many tokens or too many brackets inside one another', () => {
    expect(violation(`{ ping } #${'é'.repeat(20_000)}`)).toMatchObject([{ code: 'TEXT_LIMIT' }]);
    expect(violation('{'.repeat(1_000))).toMatchObject([{ code: 'NESTING_LIMIT' }]);
    expect(violation('{ a(b: '.repeat(300))).toMatchObject([{ code: 'NESTING_LIMIT' }]);
    expect(violation('a '.repeat(2_001))).toMatchObject([{ code: 'TOKENS_LIMIT' }]);
  });

  test('of the highest nesting that a setting can bring about is parsed and measured', () => {
    const limits = { ...DEFAULT_LIMITS, depth: 100, tokens: 100_000, text: 1_000_000, selections: 100_000 };
    expect(allowedNesting({ ...limits })).toBe(416);
    const nested = (count: number) => `${'{ node '.repeat(count)}{ id }${' }'.repeat(count)}`;
    expect(violation(nested(415), limits)).toMatchObject([{ code: 'DEPTH_LIMIT' }]);
    expect(violation(nested(416), limits)).toMatchObject([{ code: 'NESTING_LIMIT' }]);
  });

  test('whatever it is, is judged or refused as no GraphQL, and its excess is told in numbers', () => {
    const word = fc.constantFrom(
      '{',
      '}',
      '(',
      ')',
      '[',
      ']',
      '...',
      ':',
      '$',
      '@',
      '!',
      '=',
      '|',
      '&',
      'on',
      'query',
      'fragment',
      'node',
      'F',
      'first',
      '1',
      '"x"',
      '"""',
      '#',
      ',',
      '\n',
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 60 }), (words) => {
        try {
          for (const { message } of violation(words.join(' '), { ...DEFAULT_LIMITS, tokens: 30, depth: 2 }))
            expect(message).toMatch(/^[A-Z][a-zA-Z ()]+ (of at least )?\d+ exceeds the limit of \d+$/);
        } catch (error) {
          expect((error as Error).constructor.name).toBe('GraphQLError');
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
