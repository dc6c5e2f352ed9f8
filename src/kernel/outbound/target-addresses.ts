import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { networkError, OutboundError } from './outbound-error.js';

/** Which targets may be called. */
export interface TargetPolicy {
  /** `ALLOW_PRIVATE_TARGETS`: this machine and private networks, and also without TLS. */
  readonly allowPrivateTargets: boolean;
  /** The addresses of a name; that of the system by default. */
  readonly addressesOf?: (name: string) => Promise<readonly string[]>;
}

/**
 * The addresses of a host, resolved once: whoever calls it connects to one of these. One that is not public is enough to refuse
 * all of them: which one is called is for the network to decide.
 *
 * @param host a name or an address; IPv6 without brackets
 * @throws OutboundError TARGET_REFUSED, TARGET_UNREACHABLE
 */
export async function checkedAddresses(host: string, policy: TargetPolicy): Promise<readonly string[]> {
  if (!policy.allowPrivateTargets && isPrivateHost(host)) throw new OutboundError('TARGET_REFUSED');
  const addresses =
    isIP(host) === 0 ? await (policy.addressesOf ?? systemAddressesOf)(host).catch(unreachable) : [host];
  if (addresses.length === 0) throw new OutboundError('TARGET_UNREACHABLE');
  if (!policy.allowPrivateTargets && !addresses.every(isPublicAddress)) throw new OutboundError('TARGET_REFUSED');
  return addresses;
}

const systemAddressesOf = async (name: string): Promise<string[]> =>
  (await lookup(name, { all: true })).map(({ address }) => address);

function unreachable(error: Error): never {
  throw networkError(error);
}

/**
 * What takes as long as it takes, until a signal.
 *
 * @throws OutboundError TARGET_TIMED_OUT
 */
export function untilAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const late = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(new OutboundError('TARGET_TIMED_OUT')), { once: true });
  });
  return Promise.race([work, late]);
}

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
