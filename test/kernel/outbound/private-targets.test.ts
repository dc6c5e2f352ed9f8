import { isPrivateHost, isPublicAddress } from '../../../src/kernel/outbound/target-addresses.js';

/** A host as an address of the Web has it. */
const hostOf = (text: string): string => new URL(`https://${text}/`).hostname;

describe('a host is private by its text', () => {
  test.each([
    ...['localhost', 'LOCALHOST', 'localhost.', 'shop.localhost', '127.0.0.1', '127.1', '0x7f.1', '2130706433', '0'],
    ...['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', '169.254.169.254', '100.64.0.1', '0.0.0.0'],
    ...['224.0.0.1', '255.255.255.255', '192.0.2.1', '198.18.0.1', '240.0.0.1'],
    ...['[::1]', '[::]', '[fe80::1]', '[fc00::1]', '[fd12:3456::1]', '[fec0::1]', '[ff02::1]', '[2001:db8::1]'],
    ...['[::ffff:127.0.0.1]', '[::ffff:10.0.0.1]', '[::127.0.0.1]', '[64:ff9b::7f00:1]', '[64:ff9b:1::7f00:1]'],
    ...['[2002:7f00:1::]', '[2001:0:7f00:1::]'],
  ])('%s', (text) => {
    expect(isPrivateHost(hostOf(text))).toBe(true);
  });
});

describe('a host may be public', () => {
  test.each([
    ...['example.com', 'localhost.example.com', 'mylocalhost', 'intranet', '8.8.8.8', '172.32.0.1', '193.168.1.1'],
    ...['[2606:4700::1111]', '[::ffff:8.8.8.8]'],
  ])('%s', (text) => {
    expect(isPrivateHost(hostOf(text))).toBe(false);
  });
});

test.each(['', 'example.com', '1.2.3.4/8', '[::1]'])('%j is no public address', (text) => {
  expect(isPublicAddress(text)).toBe(false);
});
