import { parseMetadataFilter } from '../../../../src/features/secrets/scope/metadata-filter.rules.js';
import fc from '../../../kit/properties.js';
import { rounds } from '../../../kit/scope.js';

const escaped = (text: string): string =>
  text.replace(/[\\,=|]|^\s+|\s+$/g, (found) => found.replace(/[\s\S]/gu, '\\$&'));
/** The filter text of pairs: `parseMetadataFilter` parses it back to the same pairs. */
const printMetadataFilter = (pairs: readonly { readonly key: string; readonly value: string }[]): string =>
  pairs.map(({ key, value }) => `key=${escaped(key)},value=${escaped(value)}`).join('|');

const pairsOf = (raw: string) => parseMetadataFilter(raw).pairs;
const malformedOf = (raw: string) => parseMetadataFilter(raw).malformed.map(({ index }) => index);

describe('the metadata filter', () => {
  test.each([
    ['key=team,value=core', [{ key: 'team', value: 'core' }]],
    [
      'key=team,value=core|key=tier,value=1',
      [
        { key: 'team', value: 'core' },
        { key: 'tier', value: '1' },
      ],
    ],
    ['KEY = team , Value = core', [{ key: 'team', value: 'core' }]],
    ['value=core,key=team', [{ key: 'team', value: 'core' }]],
    ['key=url,value=a\\=b', [{ key: 'url', value: 'a=b' }]],
    ['key=a\\,b,value=x\\|y', [{ key: 'a,b', value: 'x|y' }]],
    ['key=path,value=C:\\\\', [{ key: 'path', value: 'C:\\' }]],
    ['', []],
    ['  ', []],
  ])('reads %j', (raw, pairs) => {
    expect(parseMetadataFilter(raw)).toEqual({ pairs, malformed: [] });
  });

  test.each([
    ['key=team', [0]],
    ['team=core', [0]],
    ['key=url,value=a=b', [0]],
    ['key=a,value=1,key=b,value=2', [0]],
    ['key=a,value=1|', [1]],
    ['key=a,value=1|key=,value=2|key=c,value=3|x', [1, 3]],
    ['key=a,value=C:\\dir', [0]],
    ['key=a,value=b\\', [0]],
  ])('names the malformed pairs of %j', (raw, indexes) => {
    expect(malformedOf(raw)).toEqual(indexes);
  });

  test('refuses an eleventh pair', () => {
    const pairs = Array.from({ length: 11 }, (_, index) => ({ key: `k${index}`, value: 'v' }));
    expect(malformedOf(printMetadataFilter(pairs.slice(0, 10)))).toEqual([]);
    expect(malformedOf(printMetadataFilter(pairs))).toEqual([10]);
  });

  test('reads back whatever pairs were printed', () => {
    const text = (max: number) =>
      fc
        .oneof(fc.string({ unit: 'grapheme', minLength: 1, maxLength: max }), fc.stringMatching(/^[\\,=| \tab]{1,12}$/))
        .filter((it) => it.length > 0 && it.length <= 255 && !it.includes('\u0000') && it.isWellFormed());
    const pairs = fc.array(fc.record({ key: text(30), value: text(60) }), { minLength: 1, maxLength: 10 });
    fc.assert(
      fc.property(pairs, (wanted) => {
        expect(parseMetadataFilter(printMetadataFilter(wanted))).toEqual({ pairs: wanted, malformed: [] });
      }),
      { numRuns: rounds(500) },
    );
  });

  test('answers every text with pairs or faults, and what it accepts it prints back', () => {
    const noise = fc.oneof(fc.string(), fc.stringMatching(/^[\\,=|keyvalu ]{0,40}$/));
    fc.assert(
      fc.property(noise, (raw) => {
        const { pairs, malformed } = parseMetadataFilter(raw);
        if (malformed.length === 0 && raw.trim() !== '') expect(pairsOf(printMetadataFilter(pairs))).toEqual(pairs);
        expect(pairs.length + malformed.length > 0 || raw.trim() === '').toBe(true);
      }),
      { numRuns: rounds(1_000) },
    );
  });
});
