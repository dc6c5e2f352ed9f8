import ipaddr from 'ipaddr.js';

/** What is routed on the Internet. Other IPv6 addresses are local, or hold an IPv4 address that may be. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Whether an address is one of the public Internet: not of this machine, of a private network or link, of a group, or reserved.
 *
 * @param text an IPv4 or IPv6 address; an IPv4 address that is written as IPv6 counts as what it is
 * @returns false for what is no address
 */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.process(text);
  if (address.range() !== 'unicast') return false;
  return !(address instanceof ipaddr.IPv6) || address.match(GLOBAL_IPV6);
}

/**
 * Whether a host names this machine or a private network by its text alone. What a name resolves to is for the time of a request.
 *
 * @param host as `URL.hostname` has it: IPv6 in brackets, IPv4 as four decimal numbers
 */
export function isPrivateHost(host: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, '');
  const address = /^\[(?<inner>.*)\]$/.exec(name)?.groups?.inner ?? name;
  if (ipaddr.isValid(address)) return !isPublicAddress(address);
  return name === 'localhost' || name.endsWith('.localhost');
}
