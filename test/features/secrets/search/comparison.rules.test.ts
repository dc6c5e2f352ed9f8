import { type Side, valueGroups, verdictOf } from '../../../../src/features/secrets/search/search.rules.js';
import fc from '../../../kit/properties.js';

const there = (fingerprint: string | null): Side => ({ presence: 'present', fingerprint });
const missing: Side = { presence: 'missing', fingerprint: null };
const unknown: Side = { presence: 'unknown', fingerprint: null };

describe('what the sides of a comparison say', () => {
  test.each<[string, Side[], (number | null)[]]>([
    ['equal', [there('a'), there('a')], [1, 1]],
    ['equal', [there(''), there('')], [1, 1]],
    ['different', [there('a'), there('')], [1, 2]],
    ['different', [there('b'), there('a'), there('b')], [1, 2, 1]],
    ['different', [there('b'), there('a'), there(null)], [1, 2, null]],
    ['unknown', [there('a'), there(null)], [1, null]],
    ['unknown', [there('a'), there('a'), unknown], [1, 1, null]],
    ['missing', [there('a'), missing], [1, null]],
    ['missing', [there('a'), there('b'), missing, unknown], [1, 2, null, null]],
  ])('%s', (verdict, sides, groups) => {
    expect(verdictOf(sides)).toBe(verdict);
    expect(valueGroups(sides)).toEqual(groups);
  });

  test('is equal only where every two of them are known to be equal, whatever their order', () => {
    const side = fc.constantFrom(there('a'), there('b'), there(''), there(null), missing, unknown);
    fc.assert(
      fc.property(fc.array(side, { minLength: 2, maxLength: 5 }), (sides) => {
        const [first] = sides as [Side];
        const areEqual =
          first.fingerprint !== null && sides.every(({ fingerprint }) => fingerprint === first.fingerprint);
        expect(verdictOf(sides) === 'equal').toBe(areEqual);
        expect(verdictOf([...sides].reverse())).toBe(verdictOf(sides));
        const groups = valueGroups(sides);
        for (const [a, one] of sides.entries())
          for (const [b, other] of sides.entries())
            expect(groups[a] !== null && groups[a] === groups[b]).toBe(
              one.fingerprint !== null && one.fingerprint === other.fingerprint,
            );
      }),
    );
  });
});
