import {
  AccountMapping,
  AccountParameters,
} from '../../../../src/features/rotations/secret-rotations/kinds/hostos-local-account/account.rules.js';
import { generatePassword } from '../../../../src/features/rotations/secret-rotations/kinds/hostos-local-account/local-account.js';
import { PasswordRequirements } from '../../../../src/features/rotations/secret-rotations/password-rules/password-rule.rules.js';
import { check } from '../../../../src/kernel/validation.js';
import fc from '../../../kit/properties.ts';

const violationsIn = (rules: Parameters<typeof check>[0], given: unknown): string[] =>
  (check(rules, given).violations ?? []).map(({ path, code }) => `${path} ${code}`);

const SYMBOLS = '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~';
const requirements = fc
  .record({
    length: fc.integer({ min: 8, max: 127 }),
    required: fc.record({
      lowercase: fc.integer({ min: 0, max: 40 }),
      uppercase: fc.integer({ min: 0, max: 40 }),
      digits: fc.integer({ min: 0, max: 40 }),
      symbols: fc.integer({ min: 0, max: 40 }),
    }),
    allowedSymbols: fc.option(fc.string({ unit: fc.constantFrom(...SYMBOLS), maxLength: 40 }), { nil: undefined }),
  })
  .filter((given) => violationsIn(PasswordRequirements, given).length === 0);
const username = fc
  .string({ unit: fc.constantFrom(...'abAB01_-.'), minLength: 1, maxLength: 20 })
  .filter((name) => violationsIn(AccountParameters, { username: name }).length === 0);

describe('a generated password', () => {
  test('has the length and at least the characters that are required, and none of a class or a symbol that is not used', () => {
    fc.assert(
      fc.property(requirements, username, (wanted, name) => {
        const password = generatePassword(name, wanted).reveal();
        const { required } = wanted;
        const symbols = wanted.allowedSymbols || '-_.~!*';
        const counts = {
          lowercase: [...password].filter((one) => /[a-z]/.test(one)).length,
          uppercase: [...password].filter((one) => /[A-Z]/.test(one)).length,
          digits: [...password].filter((one) => /\d/.test(one)).length,
          symbols: [...password].filter((one) => symbols.includes(one)).length,
        };
        expect(password).toHaveLength(wanted.length);
        expect(Object.values(counts).reduce((sum, count) => sum + count)).toBe(wanted.length);
        for (const kind of ['lowercase', 'uppercase', 'digits', 'symbols'] as const) {
          expect(counts[kind]).toBeGreaterThanOrEqual(required[kind]);
          if (required[kind] === 0) expect(counts[kind]).toBe(0);
        }
        if (name.length >= 3) expect(password.toLowerCase()).not.toContain(name.toLowerCase());
      }),
    );
  });

  test('is 48 letters and digits, with some of each, when nothing is required', () => {
    const all = Array.from({ length: 200 }, () => generatePassword('backup').reveal());
    for (const password of all) expect(password).toMatch(/^(?=.*[a-z])(?=.*[A-Z])(?=.*\d)[A-Za-z\d]{48}$/);
    expect(new Set(all).size).toBe(200);
  });

  test('has no place where a class always stands', () => {
    const wanted = { length: 8, required: { lowercase: 0, uppercase: 1, digits: 7, symbols: 0 } };
    const places = new Set(
      Array.from({ length: 400 }, () => generatePassword('backup', wanted).reveal().search(/[A-Z]/)),
    );
    expect(places.size).toBe(8);
  });
});

describe('the rules of an account', () => {
  const required = { lowercase: 1, uppercase: 1, digits: 1, symbols: 1 };
  const requiring = (more: object): string[] =>
    violationsIn(AccountParameters, { username: 'backup', passwordRequirements: { length: 32, required, ...more } });

  test.each(['backup', 'svc_sql', '_x', 'A.b-c', 'a'.repeat(20), ' backup '])('take the name %j', (name) => {
    expect(check(AccountParameters, { username: name }).data).toMatchObject({
      username: name.trim(),
      rotationMethod: 'login-as-root',
    });
  });

  test.each([
    '',
    '500',
    '1001abc',
    '0x1f4',
    '-U',
    '.x',
    'x.',
    'a b',
    'a;b',
    'a%b',
    'a\\b',
    'a@b',
    'é',
    'a'.repeat(21),
    'Administrator',
    'SYSTEM',
    'guest',
    'DefaultAccount',
  ])('do not take the name %j', (name) => {
    expect(
      new Set(violationsIn(AccountParameters, { username: name }).map((violation) => violation.split(' ')[0])),
    ).toEqual(new Set(['username']));
  });

  test.each([
    [{}, []],
    [{ length: 127, allowedSymbols: SYMBOLS }, []],
    [{ allowedSymbols: '' }, []],
    [{ length: 128 }, ['passwordRequirements.length TOO_BIG']],
    [{ length: 7 }, ['passwordRequirements.length TOO_SMALL']],
    [{ length: 8, required: { ...required, digits: 6 } }, ['passwordRequirements.required TOO_BIG']],
    [{ required: { lowercase: 0, uppercase: 0, digits: 0, symbols: 0 } }, ['passwordRequirements.required TOO_SMALL']],
    [{ required: { lowercase: 1, uppercase: 1, digits: 1 } }, ['passwordRequirements.required.symbols MISSING']],
    [{ required: { ...required, digits: -1 } }, ['passwordRequirements.required.digits TOO_SMALL']],
    [{ allowedSymbols: 'é' }, ['passwordRequirements.allowedSymbols INVALID_FORMAT']],
    [{ allowedSymbols: 'a1' }, ['passwordRequirements.allowedSymbols INVALID_FORMAT']],
    [{ allowedSymbols: ' ' }, ['passwordRequirements.allowedSymbols INVALID_FORMAT']],
    [{ allowedSymbols: '\n' }, ['passwordRequirements.allowedSymbols INVALID_FORMAT']],
    // No password of these could avoid the name `___`.
    [
      { required: { lowercase: 0, uppercase: 0, digits: 0, symbols: 1 }, allowedSymbols: '_' },
      ['passwordRequirements.required TOO_SMALL'],
    ],
  ])('tell of the requirements %j: %j', (more, violations) => expect(requiring(more)).toEqual(violations));

  test('map the name and the password to two secrets', () => {
    expect(violationsIn(AccountMapping, { username: 'USER', password: 'PASSWORD' })).toEqual([]);
    expect(violationsIn(AccountMapping, { username: 'USER', password: 'USER' })).toEqual(['password DUPLICATE']);
  });
});
