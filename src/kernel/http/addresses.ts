import ipaddr from 'ipaddr.js';

/** True for an IPv4 or IPv6 address, or a network in CIDR form. */
export const isCidr = (text: string): boolean => ipaddr.isValid(text) || ipaddr.isValidCIDR(text);

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
  return `${network.toString()}/${bits}`;
}

/** The caller's address as Postgres and people write it: `::ffff:10.0.0.1` is `10.0.0.1`, and a zone is dropped. */
export const normalizeAddress = (text: string): string => ipaddr.process(text.replace(/%.*$/, '')).toString();
