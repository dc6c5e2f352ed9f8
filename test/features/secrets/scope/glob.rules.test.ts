import {
  likePattern,
  matchGlob,
  matchPrefix,
  type TextMatch,
} from '../../../../src/features/secrets/search/search.rules.js';
import fc from '../../../kit/properties.js';
import { rounds } from '../../../kit/scope.js';
import { useSharedStrongroom } from '../../../kit/strongroom.js';

/** What a glob means, in the plainest way. */
function fits(glob: readonly string[], text: readonly string[]): boolean {
  const [wanted, ...others] = glob;
  if (wanted === undefined) return text.length === 0;
  if (wanted === '*') return fits(others, text) || (text.length > 0 && fits(glob, text.slice(1)));
  return text.length > 0 && (wanted === '?' || wanted === text[0]) && fits(others, text.slice(1));
}

const characters = ['a', 'b', '*', '?', '%', '_', '\\', '/', 'ä', '\u{1f511}', '\ud7ff', '\ue000', '\u{10ffff}'];
const text = fc.array(fc.constantFrom(...characters), { maxLength: 6 }).map((parts) => parts.join(''));
/** Often one that fits the text next to it. */
const pair = fc
  .tuple(text, text, fc.array(fc.constantFrom('', '*', '?'), { maxLength: 6 }))
  .map(([glob, value, wild]): [string, string] =>
    wild.length === 0 ? [glob, value] : [[...value].map((it, at) => wild[at] || it).join(''), value],
  );

const CHECK = `select coalesce(value collate "C" = equals, true) and coalesce(value collate "C" >= floor, true)
    and coalesce(value collate "C" < ceiling, true) and coalesce(value collate "C" like pattern, true) as "isFit"
  from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[]) with ordinality
    as given (value, equals, floor, ceiling, pattern, at) order by at`;

describe('globs and prefixes, as the database understands them', () => {
  const strongroom = useSharedStrongroom();

  async function answers(pairs: readonly (readonly [TextMatch, string])[]): Promise<boolean[]> {
    const rows = await strongroom.sql<{ isFit: boolean }>(CHECK, [
      pairs.map(([, value]) => value),
      pairs.map(([{ equals }]) => equals),
      pairs.map(([{ from }]) => from),
      pairs.map(([{ below }]) => below),
      pairs.map(([{ like }]) => like),
    ]);
    return rows.map(({ isFit }) => isFit);
  }

  test('a glob fits what its characters say: * any, ? one, others themselves', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(pair, { minLength: 50, maxLength: 200 }), async (pairs) => {
        const got = await answers(pairs.map(([glob, value]) => [matchGlob(glob), value]));
        expect(got).toEqual(pairs.map(([glob, value]) => fits([...glob], [...value])));
      }),
      { numRuns: rounds(40) },
    );
  });

  test('a prefix fits what starts with it, whatever stands there', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(text, text, text), { minLength: 50, maxLength: 200 }), async (triples) => {
        const pairs = triples.flatMap(([prefix, value, rest]): [string, string][] => [
          [prefix, value],
          [prefix, prefix + rest],
        ]);
        const got = await answers(pairs.map(([prefix, value]) => [matchPrefix(prefix), value]));
        expect(got).toEqual(pairs.map(([prefix, value]) => value.startsWith(prefix)));
      }),
      { numRuns: rounds(20) },
    );
  });
});

describe('the range that an index finds', () => {
  test.each([
    ['DB_*', { equals: null, from: 'DB_', below: 'DB`', like: null }],
    ['DB_?', { equals: null, from: 'DB_', below: 'DB`', like: 'DB\\__' }],
    ['*', { equals: null, from: null, below: null, like: null }],
    ['**KEY', { equals: null, from: null, below: null, like: '%KEY' }],
    ['KEY', { equals: 'KEY', from: null, below: null, like: null }],
    ['\ud7ff*', { equals: null, from: '\ud7ff', below: '\ue000', like: null }],
    ['a\u{10ffff}*', { equals: null, from: 'a\u{10ffff}', below: 'b', like: null }],
    ['\u{10ffff}*', { equals: null, from: '\u{10ffff}', below: null, like: null }],
  ])('of %j', (glob, match) => {
    expect(matchGlob(glob)).toEqual(match);
  });

  test('is checked by a pattern in which LIKE finds no meaning of its own', () => {
    expect(likePattern('100%_\\***?')).toBe('100\\%\\_\\\\%_');
  });
});
