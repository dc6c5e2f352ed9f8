import {
  type ExpandedValue,
  Expansion,
  MAX_EXPANDED_BYTES,
  type ReferenceIssue,
  type ValueGraph,
} from '../../../../src/features/secrets/core/reference.rules.js';
import fc from '../../../kit/properties.js';
import { rounds } from '../../../kit/scope.js';

const expandValues = (ids: Iterable<string>, graph: ValueGraph): ReadonlyMap<string, ExpandedValue> => {
  const expansion = new Expansion(graph);
  return new Map([...ids].map((id) => [id, expansion.of(id)]));
};

interface Outcome {
  readonly value: string;
  readonly issues: readonly ReferenceIssue[];
}

/** Values of one folder by their keys; other places are not there. */
const graphOf = (values: Readonly<Record<string, string>>, forbidden: readonly string[] = []) => ({
  valueOf: (key: string) => values[key] as string,
  leadOf: (_from: string, { key }: { key: string }) => {
    if (!Object.hasOwn(values, key)) return { reason: 'MISSING' as const };
    return forbidden.includes(key) ? { reason: 'FORBIDDEN' as const } : { id: key };
  },
});
const expand = (values: Readonly<Record<string, string>>, keys = Object.keys(values)): Record<string, Outcome> =>
  Object.fromEntries(
    [...expandValues(keys, graphOf(values))].map(([key, { value, issues }]) => [key, { value, issues }]),
  );
const fine = (value: string): Outcome => ({ value, issues: [] });
const named = (from: number, count: number, text: (index: number) => string): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`L${from + index}`, text(from + index)]));

describe('expanding references', () => {
  test('puts in what is named, and what that names in turn', () => {
    expect(expand({ A: '${B}-x', B: '${PASS}', PASS: 's3', D: 'a ${A} b ${A}' })).toEqual({
      A: fine('s3-x'),
      B: fine('s3'),
      PASS: fine('s3'),
      D: fine('a s3-x b s3-x'),
    });
  });

  test('what is escaped is text, also where it is put in', () => {
    expect(expand({ A: '$${B}|${C}', B: 'b', C: '$$${B}$${GONE}' })).toEqual({
      A: fine('${B}|$b${GONE}'),
      B: fine('b'),
      C: fine('$b${GONE}'),
    });
  });

  test('what is missing stays, and is told of each value that holds it', () => {
    const issues = [{ reference: '${GONE}', reason: 'MISSING' }];
    expect(expand({ A: '${B}!', B: '<${GONE}>' })).toEqual({
      A: { value: '<${GONE}>!', issues },
      B: { value: '<${GONE}>', issues },
    });
  });

  test('what is forbidden stays, and nothing behind it is asked for', () => {
    const values = { A: '${B}', B: '${C}', C: 'c' };
    const asked: string[] = [];
    const graph = graphOf(values, ['B']);
    const outcomes = expandValues(['A'], {
      ...graph,
      valueOf: (key) => {
        asked.push(key);
        return graph.valueOf(key);
      },
    });
    expect(outcomes.get('A')).toMatchObject({ value: '${B}', issues: [{ reference: '${B}', reason: 'FORBIDDEN' }] });
    expect(asked).toEqual(['A']);
  });

  test('references among the values of a cycle stay, wherever one starts', () => {
    const cyclic = (...references: string[]) => references.map((reference) => ({ reference, reason: 'CYCLIC' }));
    const values = { A: 'a${B}${X}', B: 'b${C}', C: 'c${A}', OUT: '(${B})', SELF: '${SELF}', X: 'x' };
    const wanted = {
      A: { value: 'a${B}x', issues: cyclic('${B}') },
      B: { value: 'b${C}', issues: cyclic('${C}') },
      C: { value: 'c${A}', issues: cyclic('${A}') },
      OUT: { value: '(b${C})', issues: cyclic('${C}') },
      SELF: { value: '${SELF}', issues: cyclic('${SELF}') },
      X: fine('x'),
    };
    expect(expand(values)).toEqual(wanted);
    expect(expand(values, Object.keys(values).reverse())).toEqual(wanted);
  });

  test('no text is scanned twice: values that make a reference together make none', () => {
    expect(expand({ A: '${OPEN}B}', OPEN: '${', B: 'b' }).A).toEqual(fine('${B}'));
  });

  test('a value that would be over 1 MiB stays wholly, and one of exactly 1 MiB is made', () => {
    const half = 'é'.repeat(MAX_EXPANDED_BYTES / 4);
    const outcomes = expand({
      HALF: half,
      EXACT: '${HALF}${HALF}',
      OVER: '${HALF}${HALF}${NONE}!',
      BEYOND: '<${OVER}>',
    });
    const issues = [
      { reference: '${HALF}', reason: 'TOO_LARGE' },
      { reference: '${NONE}', reason: 'MISSING' },
    ];
    expect(outcomes.EXACT).toEqual(fine(half + half));
    expect(outcomes.OVER).toEqual({ value: '${HALF}${HALF}${NONE}!', issues });
    expect(outcomes.BEYOND).toEqual({ value: '<${HALF}${HALF}${NONE}!>', issues });
  });

  test('a value tells at most 100 issues', () => {
    const many = Array.from({ length: 150 }, (_, index) => `\${GONE${index}}`).join('');
    const { A, B } = expand({ A: many, B: '${A}' });
    expect(A?.issues).toHaveLength(100);
    expect(B).toEqual(A);
  });

  test('agrees with the plain definition on any graph', () => {
    const keys = ['A', 'B', 'C', 'D', 'E'];
    const piece = fc.oneof(
      fc.constantFrom(...keys, 'GONE').map((key) => `\${${key}}`),
      fc.constantFrom('x', 'y', '${'),
    );
    const value = fc.array(piece, { maxLength: 4 }).map((pieces) => pieces.join(''));
    const order = fc.shuffledSubarray(keys, { minLength: 1 });
    fc.assert(
      fc.property(fc.tuple(value, value, value, value, value), order, (texts, asked) => {
        const values = Object.fromEntries(keys.map((key, index) => [key, texts[index] as string]));
        const outcomes = expandValues(asked, graphOf(values));
        expect([...outcomes.keys()]).toEqual(asked);
        for (const key of asked) {
          const wanted = plainly(values, key);
          expect(outcomes.get(key)).toMatchObject({ value: wanted, bytes: Buffer.byteLength(wanted) });
        }
      }),
      { numRuns: rounds(2_000) },
    );
  });
});

describe('large webs of references', () => {
  test('a bomb of 40 levels, each naming the last twice, ends within the limit', () => {
    const values = named(0, 41, (level) => (level === 0 ? 'x' : `\${L${level - 1}}\${L${level - 1}}`));
    const outcomes = expand(values);
    expect(outcomes.L20).toEqual(fine('x'.repeat(MAX_EXPANDED_BYTES)));
    expect(outcomes.L21?.value).toBe('${L20}${L20}');
    for (const { value } of Object.values(outcomes)) expect(value.length).toBeLessThanOrEqual(MAX_EXPANDED_BYTES);
  });

  test('a chain of 10,000 values, and one of 200,000, end at their last', () => {
    const chain = (length: number) => named(0, length, (at) => (at === length - 1 ? 'end' : `\${L${at + 1}}`));
    expect(expand(chain(10_000)).L0).toEqual(fine('end'));
    expect(expand(chain(200_000), ['L0']).L0).toEqual(fine('end'));
  });

  test('a ring of 10,000 values stays as it stands', () => {
    const values = named(0, 10_000, (at) => `\${L${(at + 1) % 10_000}}`);
    const outcomes = expand(values);
    expect(outcomes.L5).toEqual({ value: '${L6}', issues: [{ reference: '${L6}', reason: 'CYCLIC' }] });
  });

  test('a web of 1,000 values that each name ten others', () => {
    const web = named(0, 1_000, (at) =>
      Array.from({ length: 10 }, (_, step) => (at + step + 1 < 1_000 ? `\${L${at + step + 1}}` : 'x')).join(''),
    );
    const outcomes = expand(web);
    expect(outcomes.L999).toEqual(fine('x'.repeat(10)));
    for (const { value } of Object.values(outcomes)) expect(value.length).toBeLessThanOrEqual(MAX_EXPANDED_BYTES);
  });
});

/** The definition, word for word: a reference stays when its target leads back to its value. */
function plainly(values: Readonly<Record<string, string>>, key: string): string {
  return (values[key] as string).replace(/\$\{(\w+)\}/g, (text, target: string) => {
    if (!Object.hasOwn(values, target) || reaches(values, target, key)) return text;
    return plainly(values, target);
  });
}

function reaches(
  values: Readonly<Record<string, string>>,
  from: string,
  to: string,
  seen = new Set<string>(),
): boolean {
  if (from === to) return true;
  if (seen.has(from)) return false;
  seen.add(from);
  return [...(values[from] as string).matchAll(/\$\{(\w+)\}/g)].some(
    ([, target]) => Object.hasOwn(values, target as string) && reaches(values, target as string, to, seen),
  );
}
