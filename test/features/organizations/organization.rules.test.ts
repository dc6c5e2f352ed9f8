import fc from 'fast-check';
import { organizationSlug, slugFor } from '../../../src/features/organizations/organization.rules.js';
import { username } from '../../../src/features/organizations/user.rules.js';

describe('a slug made from a name', () => {
  test('keeps the ASCII words, drops accents, and ends in four random characters', () => {
    expect(slugFor('Süb  Team (EU)', 'abcd-ef')).toBe('sub-team-eu-abcd');
  });

  test('is a valid slug for any name', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 64 }), fc.uuid(), (name, random) => {
        expect(organizationSlug.safeParse(slugFor(name, random)).success).toBe(true);
      }),
    );
  });
});

describe('a username', () => {
  test('is trimmed and put in lower case', () => {
    expect(username.parse(' Ada@Example.org ')).toBe('ada@example.org');
  });

  test.each(['', '   ', 'a b', 'a\u0000b', 'käthe', 'a'.repeat(256)])('is refused as %j', (text) => {
    expect(username.safeParse(text).success).toBe(false);
  });
});
