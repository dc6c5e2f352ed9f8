import picomatch from 'picomatch';
import { compileGlob, workOf } from '../../src/kernel/authz/glob.js';
import fc from '../kit/properties.js';

const fits = (pattern: string, text: string): boolean => {
  const test = compileGlob(pattern);
  if (typeof test === 'string') throw new Error(`${pattern} ${test}`);
  return test(text);
};

const letters = fc.constantFrom('a', 'b', '.', '-', '_');
const nameOf = (parts: fc.Arbitrary<string>) =>
  fc.array(parts, { minLength: 1, maxLength: 4 }).map((list) => list.join(''));
const name = nameOf(letters).filter((text) => text !== '.' && text !== '..');
const path = fc.array(name, { maxLength: 4 }).map((names) => `/${names.join('/')}`);
const namePattern = nameOf(fc.constantFrom('a', 'b', '.', '-', '?', '*', '[ab]', '[^a]', '{a,b}', 'a{b,ab}'));
const pathPattern = fc
  .array(fc.oneof({ weight: 3, arbitrary: namePattern }, { weight: 1, arbitrary: fc.constant('**') }), {
    minLength: 1,
    maxLength: 4,
  })
  .map((names) => `/${names.join('/')}`);

/** A few of the patterns made here go beyond the bounds. */
const isShort = (pattern: string): boolean => typeof compileGlob(pattern) !== 'string';

/** As the docstring of `compileGlob` reads braces: each choice is a pattern of its own, before anything else is read. */
function expandBraces(pattern: string): string[] {
  const braces = /\{([^{}]*)\}/.exec(pattern);
  if (braces === null) return [pattern];
  const [whole, choices = ''] = braces;
  return choices.split(',').flatMap((choice) => expandBraces(pattern.replace(whole, choice)));
}

/** Each `**` once for no name and once for some: picomatch wants a name for it at the top of a path and behind wildcards. */
function expandGlobstars(pattern: string): string[] {
  const readings = pattern
    .slice(1)
    .split('/')
    .reduce<string[][]>(
      (read, part) =>
        /^\*\*+$/.test(part)
          ? read.flatMap((names) => [names, [...names, '**']])
          : read.map((names) => [...names, part]),
      [[]],
    );
  return readings.map((names) => `/${names.join('/')}`);
}

describe('a pattern', () => {
  test('fits the names that picomatch says, with dots as letters', () => {
    fc.assert(
      fc.property(namePattern.filter(isShort), fc.array(name, { minLength: 5, maxLength: 5 }), (pattern, names) => {
        const expected = picomatch(pattern, { dot: true });
        for (const text of names) expect([pattern, text, fits(pattern, text)]).toEqual([pattern, text, expected(text)]);
      }),
    );
  });

  test('fits the paths that picomatch says, with dots as letters', () => {
    fc.assert(
      fc.property(pathPattern.filter(isShort), fc.array(path, { minLength: 5, maxLength: 5 }), (pattern, paths) => {
        const readings = expandBraces(pattern)
          .flatMap(expandGlobstars)
          .map((reading) => picomatch(reading, { dot: true, strictSlashes: false }));
        for (const text of paths) {
          const expected = readings.some((reading) => reading(text));
          expect([pattern, text, fits(pattern, text)]).toEqual([pattern, text, expected]);
        }
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    ['**', '/', true],
    ['**', 'a/b', true],
    ['/**', '/', true],
    ['/**', '/a/b', true],
    ['/**/b', '/b', true],
    ['/**/b', '/a/a/b', true],
    ['/**/b', '/ab', false],
    ['/*/**', '/a', true],
    ['/*/**', '/', false],
    ['/a/**/**', '/a', true],
    ['/a/**', '/ab', false],
    ['/{a,b/*}/**', '/b/c/d', true],
    ['/{a,b/*}/**', '/b', false],
    ['/{app/**,db}', '/app', true],
    ['/{app/**,db}', '/db/x', false],
    ['a,b', 'a,b', true],
    ['{,x}y', 'y', true],
    ['a**b', 'a/b', false],
    ['/**{a,b}', '/a/a', false],
    ['/**{a,b}', '/x/a', false],
    ['/**{a,b}', '/ba', true],
    ['[a-c]?', 'cz', true],
    ['[^a-c]', 'b', false],
    ['[^a]', '/', false],
    ['\\*\\(\\)', '*()', true],
    ['\\*', 'a', false],
    ['+@!', '+@!', true],
    ['?', '😀', true],
  ])('%s on %s: %s', (pattern, text, expected) => {
    expect(fits(pattern, text)).toBe(expected);
  });

  test.each([
    ['', 'must have 1 to 255 characters'],
    ['a'.repeat(256), 'must have 1 to 255 characters'],
    ['(a|b)', 'must not contain ( ) | or begin with !, unless escaped with \\'],
    ['a+(b)', 'must not contain ( ) | or begin with !, unless escaped with \\'],
    ['!a', 'must not contain ( ) | or begin with !, unless escaped with \\'],
    ['[a', 'must close each ['],
    ['[]', 'must close each ['],
    ['[!a]', 'must have characters other than [ ] \\ / between [ and ]; ^ in front negates them'],
    ['[^]', 'must have characters other than [ ] \\ / between [ and ]; ^ in front negates them'],
    ['[a/]', 'must have characters other than [ ] \\ / between [ and ]; ^ in front negates them'],
    ['[c-a]', 'must have ascending ranges'],
    ['{a,b', 'must close each {, without nesting'],
    ['{a,{b,c}}', 'must close each {, without nesting'],
    ['a}', 'must open each }'],
    ['{a}', 'must have a comma between { and }'],
    ['{1..9}', 'must have a comma between { and }'],
    ['a\\', 'must not end with \\'],
    ['*a'.repeat(11), 'must not have more than 10 wildcards'],
    ['{a,b}'.repeat(6), 'must not have more than 32 alternatives'],
    [`{a,b}{a,b}{a,b}${'c'.repeat(200)}`, 'must be shorter: its alternatives are too long in total'],
  ])('is refused: %s (%s)', (pattern, violation) => {
    expect(compileGlob(pattern)).toBe(violation);
  });

  test('of any text is a test or a fault, and the test of any text an answer', () => {
    const hostile = fc.array(fc.constantFrom('*', '**', '?', '[', ']', '{', '}', ',', '\\', '/', 'a', '^', '-', '!'));
    const pattern = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 40 }),
      hostile.map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(pattern, fc.string({ unit: 'binary', maxLength: 60 }), (text, subject) => {
        const test = compileGlob(text);
        expect(typeof test === 'string' ? test : typeof test(subject)).toMatch(/^must |^boolean$/);
      }),
    );
  });

  test('of the worst kind ends, where a matcher that tries ways twice would not within years', () => {
    const worst = [
      `${'*a'.repeat(10)}${'a'.repeat(200)}b`,
      `${'**/a/'.repeat(10)}b`,
      `${'*'.repeat(254)}b`,
      `{a,aa}{a,aa}{a,aa}{a,aa}{a,aa}*a*a*b`,
      `${'{,a}'.repeat(5)}${'*a'.repeat(9)}b`,
    ];
    const texts = ['a'.repeat(255), '/a'.repeat(1_000), 'a'.repeat(2_000)];

    for (const pattern of worst) for (const text of texts) expect(fits(pattern, text)).toBe(false);
  });

  test('takes one operation for every 32 states and character, whatever wildcards and alternatives it has', () => {
    expect(workOf(`${'*a'.repeat(9)}*b`)).toBe(1);
    expect(workOf(`*${'a'.repeat(40)}{${[...'bcdefghijklmnopqrst'].join(',')}}*x`)).toBe(26);
    expect(workOf(`${'\\a'.repeat(127)}`)).toBe(4);
    const pattern = fc
      .array(fc.constantFrom('*', '**', '?', '/', 'a', '[^b]', '{a,b}', '{,*a}', 'aaaa'), { maxLength: 60 })
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(pattern.filter(isShort), (text) => {
        // Steps and alternatives that a pattern may have.
        expect(workOf(text)).toBeLessThanOrEqual((1_024 + 32) / 32);
      }),
    );
  });

  test('tells the same of a text whatever it was asked before', () => {
    fc.assert(
      fc.property(pathPattern.filter(isShort), fc.array(path, { maxLength: 8 }), (pattern, paths) => {
        const test = compileGlob(pattern);
        if (typeof test === 'string') throw new Error(test);
        for (const text of paths) expect([text, test(text)]).toEqual([text, fits(pattern, text)]);
      }),
    );
  });
});
