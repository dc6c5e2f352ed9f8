import { isIP } from 'node:net';
import { canonicalSan, sanViolation } from '../../../../src/features/certificates/x509/names.js';
import fc from '../../../kit/properties.js';

const isValid = (kind: 'dns' | 'ip' | 'email' | 'uri', value: string): boolean =>
  sanViolation({ kind, value }) === null;

const VALID = {
  dns: [
    'a',
    'a.b',
    'A.example.com',
    '*.example.com',
    'xn--bcher-kva.example',
    `${'a'.repeat(63)}.b`,
    '1.example',
    '0-1.a',
  ],
  ip: ['192.0.2.1', '::', '2001:DB8::1', '::ffff:192.0.2.1'],
  email: ['a@b', 'first.last+tag@example.com', "o'neil@example.com"],
  uri: [
    'https://example.com/a?b#c',
    'spiffe://example.org/x',
    'urn:uuid:0',
    'https://A.example:8443',
    'https://127.0.0.1/',
    'spiffe://a_b/c..d',
    'ldap://[2001:db8::1]/',
  ],
} as const;
const INVALID = {
  dns: [
    ...[
      '',
      '.',
      'a.',
      '.a',
      'a..b',
      '-a',
      'a-',
      'a_b',
      'a b',
      '*',
      '*.',
      'a.*.b',
      '*a.b',
      'a*.b',
      '*.*.b',
      'bücher.example',
    ],
    ...[
      'xn--',
      'xn--a',
      'xn--bcher-kva\u0000',
      '192.0.2.1',
      'a.1',
      `${'a'.repeat(64)}.b`,
      `${'a.'.repeat(127)}aa`,
      'a\n',
    ],
  ],
  ip: [
    '',
    '1',
    '1.2.3',
    '256.1.1.1',
    '01.2.3.4',
    '0x7f.1.1.1',
    '1.2.3.4/8',
    'fe80::1%eth0',
    ':::',
    '2001:db8::1::',
    'a',
  ],
  email: [
    '',
    'a',
    '@b',
    'a@',
    '.a@b',
    'a.@b',
    'a..b@c',
    'a@b_c',
    'a@*.b',
    'a b@c',
    'ä@b',
    '"a"@b',
    `${'a'.repeat(65)}@b`,
  ],
  uri: [
    '',
    'a',
    '/a',
    'https:',
    'https://',
    '//a',
    'http://a b',
    'https://user@a/',
    'https://ä/',
    'javascript',
    'x:\u0001',
    // What programs read in different ways.
    ...[
      'https:a/',
      'https:\\\\a\\',
      'https://a\\@b/',
      'https://a./',
      'https://%61/',
      'https://0x7f.1/',
      'https://127.1/',
    ],
    ...['https://a/b/../c', 'https://a/%2e%2E/c', 'https://a/.', 'spiffe://%61/', 'spiffe://a@b/'],
  ],
} as const;

describe('the text of an alternative name', () => {
  test.each(Object.entries(VALID))('of the kind %s is taken as it stands', (kind, values) => {
    expect(values.filter((value) => !isValid(kind as 'dns', value))).toEqual([]);
  });

  test.each(Object.entries(INVALID))('of the kind %s is refused otherwise', (kind, values) => {
    expect(values.filter((value) => isValid(kind as 'dns', value))).toEqual([]);
  });

  test('that is an address for Node is one here, but for a zone', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), fc.string()), (value) => {
        expect(isValid('ip', value)).toBe(isIP(value) !== 0 && !value.includes('%'));
      }),
    );
  });

  test('is refused or taken, whatever it is, and never both a name and an address', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.domain(), fc.webUrl(), fc.emailAddress()), (value) => {
        const kinds = (['dns', 'ip', 'email', 'uri'] as const).filter((kind) => isValid(kind, value));
        expect(kinds.includes('dns') && kinds.includes('ip')).toBe(false);
      }),
    );
  });

  test('is the same in whatever way an address or a domain is written', () => {
    const same = (kind: 'dns' | 'ip', ...values: string[]) =>
      expect(new Set(values.map((value) => canonicalSan({ kind, value }))).size).toBe(1);
    same('ip', '2001:db8::1', '2001:0DB8:0:0:0:0:0:1');
    same('dns', 'A.Example.com', 'a.example.COM');
    expect(canonicalSan({ kind: 'uri', value: 'a:B' })).not.toBe(canonicalSan({ kind: 'uri', value: 'a:b' }));
  });
});
