import { abilityOf } from '../../../src/features/identity/permissions/ability.js';
import { secretKey } from '../../../src/features/secrets/core/secret.rules.js';
import { parseTagSlugs } from '../../../src/features/secrets/reading/secret-reading.rules.js';
import { folderPath, joinPath, parentOf, pathsDownTo } from '../../../src/features/secrets/scope/location.rules.js';
import { fieldsOf, Visibility } from '../../../src/features/secrets/scope/visibility.rules.js';
import { effectiveSecrets } from '../../../src/features/secrets/transfer/transfer.rules.js';
import { CreateSecrets } from '../../../src/features/secrets/writing/secret-writing.rules.js';
import fc from '../../kit/properties.js';

const segment = fc.stringMatching(/^[A-Za-z0-9_-]{1,20}$/);
const path = fc.array(segment, { maxLength: 8 }).map((names) => `/${names.join('/')}`);

describe('a secret path', () => {
  test('is kept as it is, but for blanks around it and one trailing slash', () => {
    fc.assert(
      fc.property(path, (wanted) => {
        expect(folderPath.parse(wanted)).toBe(wanted);
        if (wanted !== '/') expect(folderPath.parse(` ${wanted}/ `)).toBe(wanted);
      }),
    );
  });

  test.each([
    '',
    'a',
    'a/b',
    '///',
    '/a//b',
    '/..',
    '/a/../b',
    '/a b',
    '/a.b',
    '/ü',
    `/${'a'.repeat(256)}`,
    '/a\u0000',
  ])('is refused when it is %j', (wrong) => {
    expect(folderPath.safeParse(wrong).success).toBe(false);
  });

  test('is the join of its parent and its name, and has all above it', () => {
    fc.assert(
      fc.property(path, segment, (parent, name) => {
        const whole = joinPath(parent, name);
        expect(parentOf(whole)).toBe(parent);
        const above = pathsDownTo(whole);
        expect(above.at(-1)).toBe(whole);
        expect(above.map(parentOf)).toEqual(['/', ...above.slice(0, -1)]);
      }),
    );
  });
});

describe('a secret key', () => {
  test('is any text without /, :, = and control characters, trimmed', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 100 }), (text) => {
        const parsed = secretKey.safeParse(text);
        const isFine = text.trim() !== '' && !/[/:=\p{Cc}]/u.test(text.trim());
        expect(parsed.success).toBe(isFine);
        if (parsed.success) expect(parsed.data).toBe(text.trim());
      }),
    );
  });

  test.each(['a=b', 'a/b', 'a:b', 'a\nb', 'a\u0000', '', '  ', '\ud800', 'k'.repeat(256)])(
    'is refused when it is %j',
    (wrong) => {
      expect(secretKey.safeParse(wrong).success).toBe(false);
    },
  );
});

describe('a value', () => {
  const place = { projectId: 'p', environment: 'dev' };
  const accepts = (secretValue: string) =>
    CreateSecrets.safeParse({ ...place, secrets: [{ secretKey: 'K', secretValue }] }).success;

  test('may have 512 KiB of UTF-8 and no byte more', () => {
    expect(accepts('a'.repeat(512 * 1024))).toBe(true);
    expect(accepts('a'.repeat(512 * 1024 + 1))).toBe(false);
    expect(accepts('ü'.repeat(256 * 1024))).toBe(true);
    expect(accepts(`${'ü'.repeat(256 * 1024)}a`)).toBe(false);
  });

  test('is refused with half a surrogate pair, which could not come back as it was', () => {
    expect(accepts('\ud83d')).toBe(false);
    expect(accepts('\u0000 \u{1f511}\r\n')).toBe(true);
  });
});

test('parseTagSlugs returns each slug once, in order, whatever blanks surround it', () => {
  const slug = fc.stringMatching(/^[a-z0-9]{1,8}(-[a-z0-9]{1,8}){0,2}$/);
  fc.assert(
    fc.property(fc.array(slug), fc.constantFrom(',', ' , ', ', ,'), (slugs, comma) => {
      expect(parseTagSlugs(slugs.join(comma))).toEqual([...new Set(slugs)]);
    }),
  );
});

describe('visibility of a secret', () => {
  const subject = { environment: 'dev', path: '/app', key: 'DB', tags: [{ slug: 'db' }] };
  const seen = (...rules: Parameters<typeof abilityOf>[0]) => {
    const visibility = new Visibility(abilityOf(rules));
    return [visibility.describes(subject), visibility.readsValue(subject)];
  };

  test('is granted whole by the older action read', () => {
    expect(seen({ subject: 'secrets', action: 'read' })).toEqual([true, true]);
  });

  test('is granted part by part by the newer actions', () => {
    expect(seen({ subject: 'secrets', action: 'describeSecret' })).toEqual([true, false]);
    expect(seen()).toEqual([false, false]);
  });

  test('is forbidden by an inverted rule, also beside the older action', () => {
    const read = { subject: 'secrets', action: 'read' };
    expect(seen(read, { subject: 'secrets', action: 'readValue', inverted: true })).toEqual([true, false]);
    expect(seen({ subject: 'secrets', action: ['describeSecret', 'readValue'] }, { ...read, inverted: true })).toEqual([
      false,
      false,
    ]);
  });

  test.each([
    [{ environment: 'dev' }, true],
    [{ environment: { $ne: 'dev' } }, false],
    [{ secretPath: { $glob: '/app/**' } }, true],
    [{ secretPath: { $glob: '/other/**' } }, false],
    [{ secretName: { $in: ['DB', 'X'] } }, true],
    [{ secretTags: { $in: ['db'] } }, true],
    [{ secretTags: { $in: ['web'] } }, false],
    [{ environment: 'dev', secretName: 'X' }, false],
  ])('follows the conditions %j', (conditions, isSeen) => {
    expect(seen({ subject: 'secrets', action: 'describeSecret', conditions })).toEqual([isSeen, false]);
    expect(fieldsOf(subject)).toEqual({ environment: 'dev', secretPath: '/app', secretName: 'DB', secretTags: ['db'] });
  });
});

describe('the secrets that hold', () => {
  const own = [
    { secretKey: 'B', value: 1 },
    { secretKey: 'B', value: 2 },
    { secretKey: 'A', value: 3 },
  ];
  test('are those of the first folder with their key, the last entry of it, by the bytes of the key', () => {
    const lists = [
      own,
      [
        { secretKey: '\u{1f511}', value: 4 },
        { secretKey: 'A', value: 5 },
      ],
      [{ secretKey: '\uff5e', value: 6 }],
    ];
    expect(effectiveSecrets(lists).map(({ value }) => value)).toEqual([3, 2, 6, 4]);
  });
});
