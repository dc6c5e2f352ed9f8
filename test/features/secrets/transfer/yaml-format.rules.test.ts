import { parse as parseYaml } from 'yaml';
import { yamlFormat } from '../../../../src/features/secrets/transfer/yaml-format.rules.js';
import fc from '../../../kit/properties.js';
import { comments, entriesWith, garbage, nastyText, plain, printed, secretKeys, violationsIn } from './format.js';

const pairs = (text: string) => yamlFormat.parse(text).entries.map(({ key, value }) => [key, value]);

describe('a YAML file', () => {
  test.each([
    ['', []],
    ['# nothing\n', []],
    ['---\n...\n', []],
    ['{}', []],
    [
      'PORT: 8080\nYES: yes\nNONE: ~\nEMPTY:\nOCTAL: 010',
      [
        ['PORT', '8080'],
        ['YES', 'yes'],
        ['NONE', '~'],
        ['EMPTY', ''],
        ['OCTAL', '010'],
      ],
    ],
    [
      '"A b": \'it\'\'s\'\nB: "x\\ty" # c\n',
      [
        ['A b', "it's"],
        ['B', 'x\ty'],
      ],
    ],
    [
      'A: |\n  x\n   y\n\nB: >-\n  x\n  y\nC: x\n  y\n',
      [
        ['A', 'x\n y\n'],
        ['B', 'x y'],
        ['C', 'x y'],
      ],
    ],
    [
      '{"A": "b", C: d}',
      [
        ['A', 'b'],
        ['C', 'd'],
      ],
    ],
    [
      '? A\n: b\n<<: c\n__proto__: d',
      [
        ['A', 'b'],
        ['<<', 'c'],
        ['__proto__', 'd'],
      ],
    ],
    [
      '\ufeff---\nA: b\r\nC: d\r\n',
      [
        ['A', 'b'],
        ['C', 'd'],
      ],
    ],
  ])('reads %j', (text, wanted) => {
    expect({ pairs: pairs(text), violations: violationsIn(yamlFormat, text) }).toEqual({
      pairs: wanted,
      violations: [],
    });
  });

  test.each([
    ['A', ['1 NOT_A_MAP']],
    ['- a', ['1 NOT_A_MAP']],
    ['\n[a]', ['2 NOT_A_MAP']],
    ['A: 1\nB:\n  C: 2\nD:\n  - e\nE: {}\nF: []', ['3 NOT_TEXT 2', '5 NOT_TEXT 3', '6 NOT_TEXT 4', '7 NOT_TEXT 5']],
    ['A: &x 1\n&y B: *x\nC: !!str 2\n? [a]\n: 3', ['1 ANCHOR 1', '2 ANCHOR 2', '2 ALIAS 2', '3 TAG 3', '4 NOT_TEXT 4']],
    ['!!map\nA: b', ['1 TAG']],
    ['&x\nA: b', ['1 ANCHOR']],
    ['*x', ['1 ALIAS']],
    ['%YAML 1.2\n---\nA: b', ['1 DIRECTIVE']],
    ['A: 1\n---\nB: 2', ['2 MANY_DOCUMENTS']],
    ['A: 1\nB: 2\n"A": 3', ['3 DUPLICATE 3']],
    ['{A, B: 1}', ['1 NO_VALUE 1']],
    ['A: 1\nB\n', ['2 NO_VALUE 2']],
    ['A: "x\nB: y', ['1 NOT_YAML 1']],
    ['A: 1\n  B: 2', ['1 NOT_TEXT 1']],
    ['A: @x', ['1 NOT_YAML 1']],
    ['{A: 1', ['1 NOT_YAML']],
    ['A: "\\q"', ['1 NOT_YAML 1']],
    ['A: "\\ud800"\na/b: 1\n: 2', ['1 INVALID 1', '2 INVALID 2', '3 TOO_SMALL 3']],
  ])('names the lines that are wrong in %j', (text, violations) => {
    expect(violationsIn(yamlFormat, text)).toEqual(violations);
  });

  test('ends where there is too much of it, and goes no way down', () => {
    const many = Array.from({ length: 1_001 }, (_, index) => `K${index}: v\n`).join('');
    expect(violationsIn(yamlFormat, many)).toEqual(['1001 TOO_MANY']);
    expect(violationsIn(yamlFormat, '[{'.repeat(10_000))).toEqual(['1 NOT_A_MAP']);
    expect(violationsIn(yamlFormat, `A: ${'['.repeat(10_000)}`)).toEqual(['1 NOT_TEXT 1']);
    for (const piece of [
      '[',
      '- ',
      '? ',
      'a: ',
      'a:\n',
      '#\n',
      '\n',
      '---\n',
      '%a\n',
      '*a ',
      '!a ',
      '"\\\n',
      "'\n",
      '|\n',
    ])
      expect(violationsIn(yamlFormat, piece.repeat(100_000)).length).toBeLessThan(1_100);
  });

  test('has the lines right above a key as its comment', () => {
    const text = '# of nothing\n\n# of A\nA: 1 # no\n#  of B\n  # of B\nB: |\n  # value\nC: 3\n# of D\nD:\n';
    expect(plain(yamlFormat.parse(text))).toEqual([
      { key: 'A', value: '1', comment: 'of A' },
      { key: 'B', value: '# value\n', comment: ' of B\nof B' },
      { key: 'C', value: '3', comment: undefined },
      { key: 'D', value: '', comment: 'of D' },
    ]);
  });

  test('is read as the package reads it without types, or refused', () => {
    const sign = fc.constantFrom(...`'"|>-:#&*!{}[],%@ \nabA?`, '\n', '\n', 'A: ', '\nB: ', ': ', '\n  ', ' #');
    const almost = fc.array(sign, { maxLength: 14 }).map((signs) => `A: ${signs.join('')}`);
    let accepted = 0;
    fc.assert(
      fc.property(fc.oneof(garbage, { weight: 4, arbitrary: almost }), (text) => {
        const { entries, violations } = yamlFormat.parse(text);
        if (violations.length > 0) return;
        accepted += entries.length;
        const wanted = Object.entries((parseYaml(text, { schema: 'failsafe', logLevel: 'error' }) ?? {}) as object);
        expect(new Map(entries.map(({ key, value }) => [key, value]))).toEqual(
          new Map(wanted.map(([key, value]) => [key.trim(), value ?? ''])),
        );
      }),
      { numRuns: 2_000 },
    );
    expect(accepted).toBeGreaterThan(200);
  });
});

describe('a printed YAML file', () => {
  test.each([
    ['b', 'A: "b"\n'],
    ['8080', 'A: "8080"\n'],
    ['', 'A: ""\n'],
    [
      '-----BEGIN KEY-----\n# x: y\n-----END KEY-----\n',
      'A: |\n  -----BEGIN KEY-----\n  # x: y\n  -----END KEY-----\n',
    ],
    ['a\nb', 'A: |-\n  a\n  b\n'],
    ['a \nb', 'A: "a \\nb"\n'],
    ['\u2028', 'A: "\\u2028"\n'],
  ])('has %j as %j', (value, text) => {
    expect(yamlFormat.print([{ key: 'A', value }])).toEqual({ text });
  });

  test.each(['no', 'NULL', '1', 'E3', 'a b', '~', 'ä'])('has the key %j in quotes', (key) => {
    expect(yamlFormat.print([{ key, value: '' }])).toEqual({ text: `${JSON.stringify(key)}: ""\n` });
  });

  test('holds the longest key, whatever it is made of', () => {
    const entries = [{ key: `a${'\u2028'.repeat(253)}b`, value: 'v', comment: undefined }];
    expect(plain(yamlFormat.parse(printed(yamlFormat, entries)))).toEqual(entries);
  });

  test('is read back by the package, as newer and as older YAML, and by us', () => {
    fc.assert(
      fc.property(entriesWith(secretKeys, comments), (entries) => {
        const text = printed(yamlFormat, entries);
        const wanted = new Map(entries.map(({ key, value }) => [key, value]));
        for (const version of ['1.1', '1.2'] as const) {
          const read: unknown = parseYaml(text, { version, merge: false, mapAsMap: true, logLevel: 'error' });
          expect(read).toEqual(wanted);
        }
        expect({ entries: plain(yamlFormat.parse(text)), violations: violationsIn(yamlFormat, text) }).toEqual({
          entries,
          violations: [],
        });
      }),
      { numRuns: 2_000 },
    );
  });

  test('makes no pair of a comment, whatever it holds', () => {
    fc.assert(
      fc.property(nastyText, (comment) => {
        const text = printed(yamlFormat, [{ key: 'A', value: 'b', comment }]);
        expect(parseYaml(text)).toEqual({ A: 'b' });
      }),
    );
  });
});
