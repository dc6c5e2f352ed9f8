import {
  displayName,
  organizationSlug,
  organizationSlugFor,
  UpdateOrganization,
  username,
} from '../../../src/features/identity/organizations/organization.rules.js';
import fc from '../../kit/properties.js';

describe('a slug made from a name', () => {
  test('keeps the ASCII words, drops accents, and ends in four random characters', () => {
    expect(organizationSlugFor('Süb  Team (EU)', 'abcd')).toBe('sub-team-eu-abcd');
  });

  test('is a valid slug for any name', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 64 }),
        fc.stringMatching(/^[a-z0-9]{4}$/),
        (name, random) => {
          expect(organizationSlug.safeParse(organizationSlugFor(name, random)).success).toBe(true);
        },
      ),
    );
  });
});

describe('domains of mails', () => {
  const domainsOf = (allowedEmailDomains: readonly string[]) =>
    UpdateOrganization.safeParse({ id: 'id', allowedEmailDomains }).data?.allowedEmailDomains;

  test('are kept in lower case, as ASCII, each once', () => {
    expect(domainsOf(['Example.COM', 'Bücher.example', 'example.com', 'xn--bcher-kva.example'])).toEqual([
      'example.com',
      'xn--bcher-kva.example',
    ]);
  });

  test.each([
    ...['', '.', 'localhost', '@example.com', 'ann@example.com', 'example.com.', '.example.com', '*.example.com'],
    ...['example.com/x', 'example.com:25', 'example%2ecom', ' example.com', 'exam\tple.com', 'a..b', '127.0.0.1', '1'],
    ...[`${'a'.repeat(64)}.example`, `${Array(4).fill('ü'.repeat(60)).join('.')}.example`, '-a.example'],
  ])('are none as %j', (text) => {
    expect(domainsOf([text])).toBeUndefined();
  });
});

describe('a name for people', () => {
  test('is trimmed, and may be of any script', () => {
    expect(displayName.parse(' Größe 東京 ')).toBe('Größe 東京');
  });

  test.each(['', '   ', 'a\nb', 'a\u0000b', 'a'.repeat(65)])('is refused as %j', (text) => {
    expect(displayName.safeParse(text).success).toBe(false);
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
