import ipaddr from 'ipaddr.js';

/** Parts of an IPv6 address that name the network of one customer. */
const NETWORK_PARTS = 4;

/**
 * True for an IPv4 or IPv6 address, or a network in CIDR form. IPv4 is four decimal numbers: in the short, octal and
 * hexadecimal forms `10/8` is a part of 0.0.0.0/8, which nobody who writes it means.
 */
export const isCidr = (text: string): boolean => {
  const [address = ''] = text.split('/');
  const isPlain = address.includes(':') ? !address.includes('%') : ipaddr.IPv4.isValidFourPartDecimal(address);
  return isPlain && (ipaddr.isValid(text) || ipaddr.isValidCIDR(text));
};

/**
 * The canonical text of an address or network: a bare address becomes the network of that one address, host bits are cleared.
 *
 * @returns `10.0.0.0/8` for `10.1.2.3/8`; null when the text is neither address nor network
 */
export function toCidr(text: string): string | null {
  if (!isCidr(text)) return null;
  const [address, bits] = text.includes('/')
    ? ipaddr.parseCIDR(text)
    : ([ipaddr.parse(text), ipaddr.parse(text).kind() === 'ipv4' ? 32 : 128] as const);
  const network =
    address.kind() === 'ipv4'
      ? ipaddr.IPv4.networkAddressFromCIDR(`${address.toString()}/${bits}`)
      : ipaddr.IPv6.networkAddressFromCIDR(`${address.toString()}/${bits}`);
  return `${network instanceof ipaddr.IPv6 ? ipv6Text(network) : network.toString()}/${bits}`;
}

/** As Postgres writes it: the last 32 bits of an address that has IPv4 in it are four decimal numbers. */
function ipv6Text(address: ipaddr.IPv6): string {
  const [mapped = 0, high = 0, low = 0] = address.parts.slice(5);
  const isMapped = mapped === 0xffff;
  const hasIpv4 = address.parts.slice(0, 5).every((part) => part === 0) && (isMapped || (mapped === 0 && high !== 0));
  const numbers = [high >> 8, high & 255, low >> 8, low & 255];
  return hasIpv4 ? `::${isMapped ? 'ffff:' : ''}${numbers.join('.')}` : address.toString();
}

/** `10.0.0.1:4711` and `[::1]:4711`, as some proxies write an address in `X-Forwarded-For`. */
const WITH_PORT = /^(?:(?<v4>[\d.]+)|\[(?<v6>[\da-f:.]+)\]):\d{1,5}$/i;

/**
 * The caller's address as Postgres and people write it: `::ffff:10.0.0.1` is `10.0.0.1`, and a zone or a port is dropped.
 *
 * @param text undefined: of a connection that was reset before its request was handled
 * @returns null for a text that is no address: whoever stands there is not known, and no network has it
 */
export function readAddress(text = ''): string | null {
  const { v4, v6 } = WITH_PORT.exec(text)?.groups ?? {};
  const address = (v4 ?? v6 ?? text).replace(/%.*$/, '');
  return isCidr(address) && !address.includes('/') ? ipaddr.process(address).toString() : null;
}

/**
 * What one caller has of addresses: an IPv4 address, or the first half of an IPv6 address, since the other half is the caller's to
 * choose.
 *
 * @param address as `readAddress` answers it
 */
export function callersNetwork(address: string): string {
  const parsed = ipaddr.parse(address);
  if (!(parsed instanceof ipaddr.IPv6)) return address;
  const parts = parsed.parts.slice(0, NETWORK_PARTS).map((part) => part.toString(16));
  return `${parts.join(':')}::/64`;
}

/** True when an address is one of these, or in one of these networks. A text that is no address is in none. */
export function isWithin(networks: readonly string[], text: string | undefined): boolean {
  const address = readAddress(text);
  if (address === null) return false;
  const caller = ipaddr.parse(address);
  return networks.some((entry) => {
    const [network, bits] = entry.includes('/') ? ipaddr.parseCIDR(entry) : [ipaddr.parse(entry), null];
    if (network.kind() !== caller.kind()) return false;
    return bits === null ? network.toString() === caller.toString() : caller.match(network, bits);
  });
}
