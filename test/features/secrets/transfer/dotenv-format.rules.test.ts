import { parse as parseWithDotenv } from 'dotenv';
import { dotenvFormat, isShellName } from '../../../../src/features/secrets/transfer/dotenv-format.rules.js';
import fc from '../../../kit/properties.js';
import { comments, entriesWith, garbage, nastyText, plain, printed, violationsIn } from './format.js';

const pairs = (text: string) => dotenvFormat.parse(text).entries.map(({ key, value }) => [key, value]);
const key = fc.stringMatching(/^[A-Za-z]\w{0,11}$/).filter(isShellName);

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
    ['A="b\\nc\\rd"', [['A', 'b\nc\rd']]],
    ["A='b\\nc'", [['A', 'b\\nc']]],
    ['\ufeffA=b #c', [['A', 'b']]],
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
    ['A=ab#cd', 'some readers start a comment at this #'],
    ['A=#cd', 'some readers start a comment at this #'],
    ['A=ab\t#cd', 'some readers start a comment at this #'],
    ['A="open', 'is not closed'],
    ["A='tis\nB=its", 'is not closed'],
    ['A=`b`', 'is not closed'],
    ['A="b" c', 'text follows the closing quote'],
    ["A='b'#c", 'text follows the closing quote'],
    ["A='it\\'s'", 'backslash'],
    ["A='b\\\\c'", 'backslash'],
    ['A="b\\"c"', 'backslash'],
    ['A="C:\\temp"', 'backslash'],
    ['A=\u00a0b', 'unusual blank'],
  ])('refuses %j by its line and key: readers differ', (text, why) => {
    const [violation] = dotenvFormat.parse(`\n${text}`).violations;
    expect(violation).toMatchObject({ line: 2, code: 'READERS_DIFFER', message: expect.stringContaining(why) });
    expect(violation?.message).toMatch(/^`A`: /);
  });

  test.each([
    ['A=b', []],
    ['A=\'b $c `d` "e"\' # f', []],
    ['A="it\'s"', []],
    ['A=b$c', ['VARIABLE', 'NOT_FOR_SHELL']],
    ['A="b $c"', ['VARIABLE']],
    ["A='${B}'", ['VARIABLE']],
    ['A=b c', ['NOT_FOR_SHELL']],
    ['A = b', ['NOT_FOR_SHELL']],
    ['A: b', ['NOT_FOR_SHELL']],
    ['A="b\\nc"', ['NOT_FOR_SHELL']],
    ['A.B=c', ['NOT_FOR_SHELL']],
    ['RANDOM=c', ['NOT_FOR_SHELL']],
    ["A='b\r\nc'", ['NOT_FOR_SHELL']],
  ])('warns about what others read differently in %j', (text, codes) => {
    const { entries, violations } = dotenvFormat.parse(text);
    expect(violations).toEqual([]);
    expect(entries.map(({ warnings }) => warnings?.map(({ reason }) => reason))).toEqual([codes]);
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
    [
      '# a\u2028B=1\nA=b\u2029c\nC="\u2028"\nD="" # \u2028',
      ['1 LINE_SEPARATOR', '2 LINE_SEPARATOR', '4 LINE_SEPARATOR'],
    ],
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
});

describe('a printed .env file', () => {
  test.each([
    ['b', 'b'],
    ['', "''"],
    ['a b', "'a b'"],
    ['$A', "'$A'"],
    ["it's", '"it\'s"'],
    ['a\nb', "'a\nb'"],
    ['a\\b', "'a\\b'"],
  ])('has %j as %j', (value, written) => {
    expect(dotenvFormat.print([{ key: 'A', value }])).toEqual({ text: `A=${written}\n` });
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
