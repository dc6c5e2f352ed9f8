import { parse as parseWithDotenv } from 'dotenv';
import { dotenvFormat } from '../../../../src/features/secrets/transfer/dotenv-format.rules.js';
import fc from '../../../kit/properties.js';
import { comments, entriesWith, garbage, nastyText, plain, printed, violationsIn } from './format.js';

const pairs = (text: string) => dotenvFormat.parse(text).entries.map(({ key, value }) => [key, value]);
const key = fc.stringMatching(/^[\w.-]{1,12}$/).filter((it) => it !== '__proto__');

describe('a .env file', () => {
  test.each([
    ['A=b', [['A', 'b']]],
    ['  export A = b # c', [['A', 'b']]],
    ['A: b', [['A', 'b']]],
    ['A=', [['A', '']]],
    [
      'A=\n\n# c\nB=c',
      [
        ['A', ''],
        ['B', 'c'],
      ],
    ],
    [
      "A='b\n# c\n\nd' # e\r\nB=1",
      [
        ['A', 'b\n# c\n\nd'],
        ['B', '1'],
      ],
    ],
    ['A="b\\nc\\rd\\\\n"', [['A', 'b\nc\rd\\\n']]],
    ["A='b\\nc'", [['A', 'b\\nc']]],
    ['A=`b "c" \'d\'`', [['A', 'b "c" \'d\'']]],
    [
      "A='tis\nB=it's",
      [
        ['A', "'tis"],
        ['B', "it's"],
      ],
    ],
    ["A='tis # 'x'", [['A', "'tis"]]],
    [
      "A='b\\'\nB=c",
      [
        ['A', 'b\\'],
        ['B', 'c'],
      ],
    ],
    ['\ufeffA=b#c', [['A', 'b']]],
    ['export=1', [['export', '1']]],
    ['', []],
  ])('reads %j', (text, wanted) => {
    expect({ pairs: pairs(text), violations: violationsIn(dotenvFormat, text) }).toEqual({
      pairs: wanted,
      violations: [],
    });
    expect(Object.entries(parseWithDotenv(text))).toEqual(wanted);
  });

  test.each([
    ['A', ['1 NOT_A_PAIR']],
    ['A=1\n\nB\nC=2\n"D"=3\n', ['3 NOT_A_PAIR', '5 NOT_A_PAIR']],
    ['A:\nB=c', ['1 NOT_A_PAIR']],
    ['A=\n"b"', ['2 NOT_A_PAIR']],
    ['A\n=b', ['1 NOT_A_PAIR', '2 NOT_A_PAIR']],
    ['export\nA=b', ['1 NOT_A_PAIR']],
    ['__proto__=a', ['1 NOT_A_PAIR']],
    ["A='b\n\nc'\nA=2", ['4 DUPLICATE']],
    ['# a\u2028B=1\nA=b\u2029c\nC="\u2028"', ['1 LINE_SEPARATOR', '2 LINE_SEPARATOR']],
  ])('names the lines that are wrong in %j', (text, violations) => {
    expect(violationsIn(dotenvFormat, text)).toEqual(violations);
  });

  test('keeps to the limits of secrets and of a file', () => {
    const long = 'K'.repeat(256);
    expect(violationsIn(dotenvFormat, `A=1\n${long}=2\nB=${'x'.repeat(512 * 1024 + 1)}`)).toEqual([
      '2 TOO_BIG',
      '3 TOO_BIG',
    ]);
    expect(dotenvFormat.parse(`# ${'x'.repeat(10_001)}\nA=1`).violations).toEqual([
      { line: 2, code: 'TOO_BIG', message: 'the comment above it must have at most 10000 characters' },
    ]);
    const many = Array.from({ length: 1_002 }, (_, index) => `K${index}=`).join('\n');
    expect(violationsIn(dotenvFormat, many)).toEqual(['1001 TOO_MANY']);
    expect(violationsIn(dotenvFormat, many.replace(/\nK1000=\n.*/, ''))).toEqual([]);
  });

  test('has the lines right above a pair as its comment', () => {
    const text = '# of nothing\n\n#  of A\n#of A too\nA=1 # no\nB=2\n# of C\n   #\nC=3\n# of nothing';
    expect(plain(dotenvFormat.parse(text))).toEqual([
      { key: 'A', value: '1', comment: ' of A\nof A too' },
      { key: 'B', value: '2', comment: undefined },
      { key: 'C', value: '3', comment: 'of C\n' },
    ]);
  });

  test('means to the package what it means here, whatever it is, or is refused', () => {
    const sign = fc.constantFrom(
      ...`'"\`\\# \nab=:\t`,
      '\\n',
      "\\'",
      " 'x'",
      ' # ',
      '\n\n',
      '\nZ=',
      '\u2028',
      '\u00a0',
    );
    const head = fc.tuple(
      fc.constantFrom('', ' ', 'export ', '# ', '\n'),
      fc.constantFrom('=', ' = ', ': ', '=', "='", '="'),
    );
    const lines = fc.array(fc.tuple(head, fc.array(sign, { maxLength: 8 })), { minLength: 1, maxLength: 5 });
    const almost = lines.map((all) =>
      all.map(([[before, after], value], at) => `${before}K${at}${after}${value.join('')}`).join('\n'),
    );
    let accepted = 0;
    fc.assert(
      fc.property(fc.oneof(garbage, { weight: 5, arbitrary: almost }), (text) => {
        const { entries, violations } = dotenvFormat.parse(text);
        if (violations.length > 0) return;
        accepted += entries.length;
        expect(Object.entries(parseWithDotenv(text))).toEqual(Object.entries(Object.fromEntries(pairs(text))));
      }),
      { numRuns: 4_000 },
    );
    expect(accepted).toBeGreaterThan(400);
  });
});

describe('a printed .env file', () => {
  test.each([
    ['b', 'b'],
    ['', ''],
    ['a b', "'a b'"],
    ['$A', "'$A'"],
    ["it's", '"it\'s"'],
    ['a\nb', "'a\nb'"],
    ['a\r\nb', '"a\\r\nb"'],
    [`'"`, '`\'"`'],
    ['a b\\', "'a b\\' #'."],
    ['a\'b"c`d', 'a\'b"c`d'],
    ['\'b"c`d', "'b\"c`d #'."],
  ])('has %j as %j', (value, written) => {
    expect(dotenvFormat.print([{ key: 'A', value }])).toEqual({ text: `A=${written}\n` });
    expect(parseWithDotenv(`A=${written}\nB='\n'`).A).toBe(value);
  });

  test.each([[`'"\`#`], [`'"\`\n\\n`], ['\r\\n'], ['\r"#'], [`'"\`\u2028`]])('cannot hold %j', (value) => {
    const entries = [
      { key: 'A', value: '' },
      { key: 'B', value },
    ];
    expect(dotenvFormat.print(entries)).toEqual({ inexpressible: [{ index: 1, part: 'secretValue' }] });
  });

  test.each(['a b', 'ä', '__proto__', '#'])('cannot hold the key %j', (name) => {
    expect(dotenvFormat.print([{ key: name, value: '' }])).toEqual({
      inexpressible: [{ index: 0, part: 'secretKey' }],
    });
  });

  test('is read back by the package and by us', () => {
    let expressed = 0;
    const several = entriesWith(key, comments);
    fc.assert(
      fc.property(several, (all) => {
        const entries = all.filter((entry) => dotenvFormat.print([entry]).inexpressible === undefined);
        const text = printed(dotenvFormat, entries);
        const wanted = Object.fromEntries(entries.map((entry) => [entry.key, entry.value]));
        expect(parseWithDotenv(text)).toEqual(wanted);
        expect(dotenvFormat.parse(text).violations).toEqual([]);
        expect(plain(dotenvFormat.parse(text))).toEqual(entries);
        expressed += entries.length;
      }),
      { numRuns: 1_000 },
    );
    expect(expressed).toBeGreaterThan(1_000);
  });

  test('holds every value that lacks single quotes or backticks, and has no carriage return', () => {
    fc.assert(
      fc.property(nastyText, fc.constantFrom("'", '`'), (text, quote) => {
        const value = text.replaceAll(quote, '').replaceAll('\r', '');
        expect(parseWithDotenv(printed(dotenvFormat, [{ key: 'A', value }]))).toEqual({ A: value });
      }),
      { numRuns: 1_000 },
    );
  });

  test('makes no pair of a comment, whatever it holds', () => {
    fc.assert(
      fc.property(nastyText, (comment) => {
        const text = printed(dotenvFormat, [{ key: 'A', value: 'b', comment }]);
        expect(parseWithDotenv(text)).toEqual({ A: 'b' });
        expect(pairs(text)).toEqual([['A', 'b']]);
      }),
    );
  });

  test('is what the text meant that it was read from', () => {
    fc.assert(
      fc.property(garbage, (text) => {
        const file = dotenvFormat.parse(text);
        if (file.violations.length > 0) return;
        const expressible = plain(file).filter((entry) => dotenvFormat.print([entry]).inexpressible === undefined);
        expect(plain(dotenvFormat.parse(printed(dotenvFormat, expressible)))).toEqual(expressible);
      }),
      { numRuns: 1_000 },
    );
  });
});
