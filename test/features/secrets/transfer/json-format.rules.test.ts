import { jsonFormat } from '../../../../src/features/secrets/transfer/json-format.rules.js';
import fc from '../../../kit/properties.js';
import { rounds } from '../../../kit/scope.js';
import { entriesWith, garbage, plain, printed, secretKeys, violationsIn } from './format.js';

const pairs = (text: string) => jsonFormat.parse(text).entries.map(({ key, value, line }) => [key, value, line]);

describe('a JSON file', () => {
  test.each([
    ['{}', []],
    [' \n { } \r\n', []],
    ['\ufeff{"A":"b"}', [['A', 'b', 1]]],
    [
      '{\n  "A": "b\\n\\u00e4\\"",\n\n  "10": "", "__proto__": "x"\n}\n',
      [
        ['A', 'b\nä"', 2],
        ['10', '', 4],
        ['__proto__', 'x', 4],
      ],
    ],
  ])('reads %j', (text, wanted) => {
    expect({ pairs: pairs(text), violations: violationsIn(jsonFormat, text) }).toEqual({
      pairs: wanted,
      violations: [],
    });
  });

  test.each([
    ['', ['1 NOT_AN_OBJECT']],
    ['\n["a"]', ['2 NOT_AN_OBJECT']],
    ['"a"', ['1 NOT_AN_OBJECT']],
    [
      '{"A": 1,\n"B": null, "C": true,\n"D": {"x": ["}"]}, "E": ["a"],\n"F": -1.5e3}',
      [1, 2, 2, 3, 3, 4].map((line, at) => `${line} NOT_TEXT ${at + 1}`),
    ],
    ['{"A": "1",\n"B": "2",\n"A": "3", " A ": "4"}', ['3 DUPLICATE 3', '3 DUPLICATE 4']],
    ['{"A": "1",}', ['1 NOT_JSON']],
    ['{"A": 1,\n"B"}', ['1 NOT_TEXT 1', '2 NOT_JSON']],
    ['{"A": "1"\n"B": "2"}', ['2 NOT_JSON']],
    ['{"A": "1"} x', ['1 NOT_JSON']],
    ['{"A": "1"', ['1 NOT_JSON']],
    ['{"A": "1', ['1 NOT_JSON']],
    ['{"A": "\t"}', ['1 NOT_JSON']],
    ['{"A": "\\x"}', ['1 NOT_JSON']],
    ["{'A': 'b'}", ['1 NOT_JSON']],
    ['{A: "b"}', ['1 NOT_JSON']],
    ['{"A": 01}', ['1 NOT_JSON']],
    ['{"A": truex}', ['1 NOT_JSON']],
    ['{"A": [1}', ['1 NOT_TEXT 1', '1 NOT_JSON']],
    ['{"A":\u00a0"b"}', ['1 NOT_JSON']],
    ['{"A": "\\ud800", "a/b": "1", "": "2"}', ['1 INVALID 1', '1 INVALID 2', '1 TOO_SMALL 3']],
  ])('names the places that are wrong in %j', (text, violations) => {
    expect(violationsIn(jsonFormat, text)).toEqual(violations);
  });

  test('ends where there is too much of it', () => {
    const text = JSON.stringify(
      Object.fromEntries(Array.from({ length: 1_001 }, (_, index) => [`K${index}`, ''])),
      null,
      1,
    );
    expect(violationsIn(jsonFormat, text)).toEqual(['1002 TOO_MANY']);
  });

  test('is read as JSON.parse reads it, or refused', () => {
    const almost = fc
      .dictionary(secretKeys, fc.oneof({ weight: 9, arbitrary: fc.string() }, fc.jsonValue()))
      .map((it) => JSON.stringify(it, null, 1));
    const bitten = fc
      .tuple(almost, fc.nat(), garbage)
      .map(([text, at, bite]) => text.slice(0, at % text.length) + bite.slice(0, 2) + text.slice(at % text.length));
    fc.assert(
      fc.property(fc.oneof(garbage, almost, bitten), (text) => {
        const { violations } = jsonFormat.parse(text);
        if (violations.length > 0) return;
        const wanted = Object.entries(JSON.parse(text.replace(/^\ufeff/, '')) as object);
        expect(new Map(pairs(text).map(([key, value]) => [key, value]))).toEqual(
          new Map(wanted.map(([key, value]) => [key.trim(), value])),
        );
      }),
      { numRuns: rounds(3_000) },
    );
  });

  test('that is a flat object of texts under the rules of keys is never refused', () => {
    fc.assert(
      fc.property(fc.uniqueArray(secretKeys), fc.string({ unit: 'grapheme' }), (keys, value) => {
        const text = JSON.stringify(Object.fromEntries(keys.map((key) => [key, value])));
        expect(violationsIn(jsonFormat, text)).toEqual([]);
      }),
    );
  });

  test('is read back from what is printed', () => {
    fc.assert(
      fc.property(entriesWith(secretKeys), (entries) => {
        const text = printed(jsonFormat, entries);
        expect(new Map(Object.entries(JSON.parse(text) as object))).toEqual(
          new Map(entries.map(({ key, value }) => [key, value])),
        );
        expect({ entries: plain(jsonFormat.parse(text)), violations: violationsIn(jsonFormat, text) }).toEqual({
          entries,
          violations: [],
        });
      }),
      { numRuns: rounds(1_000) },
    );
  });
});
