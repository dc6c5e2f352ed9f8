import { SMB } from '../../../../src/features/rotations/app-connections/smb/smb-client.js';
import { check } from '../../../../src/kernel/validation.js';

const SERVER = { host: 'files.example.com', port: 445, username: 'svc-rotation' };
const violationsIn = (given: object): string[] =>
  (check(SMB.publicRules, given).violations ?? []).map(({ path }) => path);

describe('credentials of an SMB server', () => {
  test.each([
    [{}],
    [{ host: '192.0.2.7', port: 1 }],
    [{ host: `${'a'.repeat(250)}.bc`, port: 65_535 }],
    [{ domain: 'CORP' }],
    [{ domain: null }],
    [{ domain: 'corp_1.example-2.com' }],
    [{ username: '500' }],
    [{ username: 'a'.repeat(104) }],
    [{ username: '_a.b-c_' }],
  ])('take %j', (more) => expect(violationsIn({ ...SERVER, ...more })).toEqual([]));

  test.each([
    [
      'host',
      ['', '-U', '.example.com', 'a b', 'a;b', 'a_b', '::1', 'ncacn_ip_tcp:a[445]', 'a/b', 'a\n', 'é', 'a'.repeat(254)],
    ],
    ['port', [0, 65_536, -1, 1.5, '445', null, undefined]],
    ['domain', ['', '-U', 'a\\b', 'a/b', 'a b', 'a%b', 'a'.repeat(256)]],
    ['username', ['', '-U', '.a', 'a.', 'a b', 'a%b', 'a\\b', 'a@b', 'a/b', 'é', 'a'.repeat(105)]],
  ])('tell that %s is wrong in %j', (field, values) => {
    const trimmed = values.filter((value) => typeof value !== 'string' || value === '' || value.trim() === value);
    for (const value of trimmed)
      expect({ value, violations: [...new Set(violationsIn({ ...SERVER, [field]: value }))] }).toEqual({
        value,
        violations: [field],
      });
  });

  test('take a password of any characters but those of control', () => {
    const violations = (password: unknown): number => check(SMB.secretRules, { password }).violations?.length ?? 0;
    for (const password of [' a ', '; | & ` $ ( )', '"\'\\', 'Grüße 🔑', 'a'.repeat(256)])
      expect(violations(password)).toBe(0);
    for (const password of ['', 'a\nb', 'a\rb', 'a\0b', 'a\tb', '\ud800', 'a'.repeat(257), 1, null])
      expect(violations(password)).toBe(1);
  });

  test('are asked for again when host or port change', () => {
    expect(SMB.targetOf({ ...SERVER, host: 'FILES.example.com' })).toBe(SMB.targetOf(SERVER));
    expect(SMB.systemOf({ ...SERVER, host: `${SERVER.host.toUpperCase()}.` })).toBe(SMB.systemOf(SERVER));
    expect(SMB.systemOf({ ...SERVER, port: 446 })).not.toBe(SMB.systemOf(SERVER));
    expect(SMB.targetOf({ ...SERVER, port: 446 })).not.toBe(SMB.targetOf(SERVER));
    expect(SMB.targetOf({ ...SERVER, host: 'other.example.com' })).not.toBe(SMB.targetOf(SERVER));
  });

  test.each(['127.0.0.1', 'localhost', '10.1.2.3', '2130706433', '0x7f.1', '169.254.169.254'])(
    'name the host %s only where the operator allows it',
    (host) => {
      expect(SMB.targetViolation({ ...SERVER, host }, { allowPrivateTargets: false })?.code).toBe('PRIVATE_TARGET');
      expect(SMB.targetViolation({ ...SERVER, host }, { allowPrivateTargets: true })).toBeNull();
    },
  );
});
