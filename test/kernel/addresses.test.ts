import { isCidr, isWithin, readAddress, toCidr } from '../../src/kernel/addresses.js';
import fc from '../kit/properties.js';

const network = fc.oneof(
  fc.tuple(fc.ipV4(), fc.integer({ min: 0, max: 32 })),
  fc.tuple(fc.ipV6(), fc.integer({ min: 0, max: 128 })),
);

describe('toCidr', () => {
  test.each([
    ['10.1.2.3', '10.1.2.3/32'],
    ['10.1.2.3/8', '10.0.0.0/8'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['::1', '::1/128'],
    ['2001:DB8:0:0::1/32', '2001:db8::/32'],
    ['::/0', '::/0'],
    ['::102:304', '::1.2.3.4/128'],
    ['::102:304/112', '::1.2.0.0/112'],
    ['0:0:0:0:0:ffff:102:304', '::ffff:1.2.3.4/128'],
  ])('writes %s as %s', (given, expected) => expect(toCidr(given)).toBe(expected));

  test('is the same for its own answer', () => {
    fc.assert(
      fc.property(network, ([address, bits]) => {
        const cidr = toCidr(`${address}/${bits}`);
        expect(cidr).toMatch(new RegExp(`/${bits}$`));
        expect(toCidr(cidr as string)).toBe(cidr);
      }),
    );
  });

  test.each([
    '',
    'localhost',
    '10.0.0.0/33',
    '::/129',
    '10.0.0.256',
    '10.0.0.0/',
    '10.0.0.0/-1',
    '10.0.0.0/8/8',
    ' 10.0.0.1',
    '10.0.0.1\n',
    '*',
  ])('refuses %j', (text) => {
    expect(toCidr(text)).toBeNull();
    expect(isCidr(text)).toBe(false);
  });

  test.each(['10', '10/8', '10.1', '0x0a000001', '012.0.0.1', '167772161', 'fe80::1%eth0', 'fe80::1%eth0/64'])(
    'refuses %s, which others read in another way or not at all',
    (text) => expect(toCidr(text)).toBeNull(),
  );
});

describe('readAddress', () => {
  test.each([
    ['::ffff:10.0.0.1', '10.0.0.1'],
    ['::FFFF:0a00:0001', '10.0.0.1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['10.0.0.1', '10.0.0.1'],
    ['0:0:0:0:0:0:0:1', '::1'],
    ['10.0.0.1:4711', '10.0.0.1'],
    ['[2001:db8::1]:4711', '2001:db8::1'],
    ['[::ffff:10.0.0.1]:80', '10.0.0.1'],
  ])('writes %s as %s', (given, expected) => expect(readAddress(given)).toBe(expected));

  test('is the same for its own answer', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (address) => {
        expect(readAddress(readAddress(address) as string)).toBe(readAddress(address));
      }),
    );
  });

  test.each(['', 'unknown', '_hidden', '10.0.0.0/8', '10.1', '10.0.0.1:', ':80', '[::1]', '10.0.0.1:4711:1', '%'])(
    'takes %j for no address',
    (text) => expect(readAddress(text)).toBeNull(),
  );

  test('takes the address of a connection that was reset for none', () => {
    expect(readAddress(undefined)).toBeNull();
    expect(isWithin(['10.0.0.0/8'], undefined)).toBe(false);
  });

  test('never throws, whatever a header holds', () => {
    fc.assert(fc.property(fc.string({ maxLength: 60 }), (text) => expect(() => readAddress(text)).not.toThrow()));
  });
});
