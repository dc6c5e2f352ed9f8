import {
  fitsMaxTtl,
  TokenAuthRules,
  toRanges,
} from '../../../src/features/identity/identities/auth-configuration.rules.js';
import fc from '../../kit/properties.js';

const accepts = (settings: object): boolean =>
  TokenAuthRules.attach.safeParse({ identityId: 'i', ...settings }).success;

describe('a token-auth configuration', () => {
  test('allows every address, 30 days, renewals up to 30 days and any number of uses when nothing is said', () => {
    expect(TokenAuthRules.attach.parse({ identityId: 'i' })).toEqual({
      identityId: 'i',
      accessTokenTrustedIps: [{ ipAddress: '0.0.0.0/0' }, { ipAddress: '::/0' }],
      accessTokenTTL: 2_592_000,
      accessTokenMaxTTL: 2_592_000,
      accessTokenNumUsesLimit: 0,
    });
  });

  test.each([
    { accessTokenTTL: 0, accessTokenMaxTTL: 0 },
    { accessTokenTTL: 315_360_000, accessTokenMaxTTL: 315_360_000 },
    { accessTokenTTL: 60, accessTokenMaxTTL: 60 },
    { accessTokenMaxTTL: 0 },
    { accessTokenTrustedIps: [{ ipAddress: '10.0.0.1' }, { ipAddress: '2001:db8::/32' }] },
    { accessTokenNumUsesLimit: 1 },
  ])('accepts %j', (settings) => {
    expect(accepts(settings)).toBe(true);
  });

  test.each([
    { accessTokenTTL: -1 },
    { accessTokenTTL: 0 },
    { accessTokenTTL: 0, accessTokenMaxTTL: 2 },
    { accessTokenTTL: 1.5 },
    { accessTokenTTL: '60' },
    { accessTokenTTL: 315_360_001, accessTokenMaxTTL: 0 },
    { accessTokenTTL: 61, accessTokenMaxTTL: 60 },
    { accessTokenMaxTTL: 315_360_001 },
    { accessTokenTrustedIps: [] },
    { accessTokenTrustedIps: [{ ipAddress: '10.0.0.0/33' }] },
    { accessTokenTrustedIps: [{ ipAddress: 'fe80::1%eth0' }] },
    { accessTokenTrustedIps: [{ ipAddress: '::ffff:10.0.0.1' }] },
    { accessTokenTrustedIps: ['10.0.0.1'] },
    { accessTokenNumUsesLimit: -1 },
    { accessTokenTtl: 60 },
  ])('refuses %j', (settings) => {
    expect(accepts(settings)).toBe(false);
  });

  test('leaves what an update does not name', () => {
    expect(TokenAuthRules.update.parse({ identityId: 'i' })).toEqual({ identityId: 'i' });
  });
});

test('a max TTL of 0 bounds no TTL; any other bounds it, and leaves no room for 0, which is no limit', () => {
  const seconds = fc.integer({ min: 0, max: 315_360_000 });
  fc.assert(
    fc.property(seconds, seconds, (ttl, maxTtl) => {
      expect(fitsMaxTtl(ttl, maxTtl)).toBe(maxTtl === 0 || (ttl !== 0 && ttl <= maxTtl));
    }),
  );
});

test('ranges are stored once each, with host bits cleared', () => {
  const ips = ['10.1.2.3/8', '10.0.0.0/8', '192.0.2.7', '2001:DB8::1/32'].map((ipAddress) => ({ ipAddress }));
  expect(toRanges(ips)).toEqual(['10.0.0.0/8', '192.0.2.7/32', '2001:db8::/32']);
});
