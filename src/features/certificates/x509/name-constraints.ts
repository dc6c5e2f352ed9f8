import type { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { AsnConvert } from '@peculiar/asn1-schema';
import { Certificate } from '@peculiar/asn1-x509';
import ipaddr from 'ipaddr.js';
import type { ErrorDetail } from '../../../kernel/errors.js';
import { invalid } from '../../../kernel/errors.js';
import { contentOf, partsOf, sequence, tlv } from './der.js';
import type { San, SanKind } from './facts.js';

export const ID_NAME_CONSTRAINTS = '2.5.29.30';

/**
 * A subtree of names of one kind. DNS: `example.com` with its subdomains; IP: `10.0.0.0/8`; email: an address, a host or `.example.com`;
 * URI: a host or `.example.com`.
 */
export type Subtree = San;

/** Permitted and excluded names below an authority. Kinds without permitted subtrees are not restricted. */
export interface NameConstraints {
  readonly permitted: readonly Subtree[];
  readonly excluded: readonly Subtree[];
}

/** Tags of general names (RFC 5280, section 4.2.1.6). */
const TAGS = { email: 0x81, dns: 0x82, uri: 0x86, ip: 0x87 } as const satisfies Record<SanKind, number>;
const KINDS = Object.fromEntries(Object.entries(TAGS).map(([kind, tag]) => [tag, kind as SanKind]));

/** Encodes the value of the extension in DER (RFC 5280, section 4.2.1.10). */
export function encodeNameConstraints({ permitted, excluded }: NameConstraints): Buffer {
  const subtrees = (tag: number, all: readonly Subtree[]): Buffer[] =>
    all.length === 0
      ? []
      : [
          tlv(
            tag,
            ...all.map(({ kind, value }) =>
              sequence(tlv(TAGS[kind], kind === 'ip' ? networkBytes(value) : Buffer.from(value, 'ascii'))),
            ),
          ),
        ];
  return sequence(...subtrees(0xa0, permitted), ...subtrees(0xa1, excluded));
}

/** The constraints of a certificate; null if it has none. Unsupported kinds of names are ignored. @throws Error if they cannot be parsed */
export function nameConstraintsOf(certificate: X509Certificate): NameConstraints | null {
  const { extensions = [] } = AsnConvert.parse(certificate.raw, Certificate).tbsCertificate;
  const found = extensions.find(({ extnID }) => extnID === ID_NAME_CONSTRAINTS);
  if (found === undefined) return null;
  const parts = partsOf(Buffer.from(found.extnValue.buffer));
  const subtrees = (tag: number): Subtree[] =>
    parts
      .filter((part) => part[0] === tag)
      .flatMap(partsOf)
      .flatMap((subtree) => subtreeOf(partsOf(subtree)[0]));
  return { permitted: subtrees(0xa0), excluded: subtrees(0xa1) };
}

function subtreeOf(name: Buffer | undefined): Subtree[] {
  const kind = name === undefined ? undefined : KINDS[name[0] as number];
  if (name === undefined || kind === undefined) return [];
  const bytes = contentOf(name);
  return [{ kind, value: kind === 'ip' ? networkText(bytes) : bytes.toString('latin1') }];
}

const networkBytes = (network: string): Buffer => {
  const [address, bits] = ipaddr.parseCIDR(network);
  const mask =
    address.kind() === 'ipv4'
      ? ipaddr.IPv4.subnetMaskFromPrefixLength(bits)
      : ipaddr.IPv6.subnetMaskFromPrefixLength(bits);
  return Buffer.from([...address.toByteArray(), ...mask.toByteArray()]);
};

function networkText(bytes: Buffer): string {
  const half = bytes.length / 2;
  const address = ipaddr.fromByteArray([...bytes.subarray(0, half)]);
  const bits = ipaddr.fromByteArray([...bytes.subarray(half)]).prefixLengthFromSubnetMask();
  if (bits === null) throw new Error('the mask of a network is not contiguous');
  return `${address.toString()}/${bits}`;
}

/** Names of a certificate to issue, and their paths in the request. */
export interface NamedSubject {
  readonly commonName: string;
  /** Path of the common name. */
  readonly path: string;
  readonly sans: readonly (San & { readonly path: string })[];
}

/**
 * All violations of the constraints of an issuer and those above it, each at its path. If there is no DNS name and the common name looks
 * like one, it counts as one, as in OpenSSL; also with a wildcard, because some clients use that.
 *
 * @param chain of the issuer: its own certificate and its issuers
 */
export function nameConstraintViolations(
  chain: readonly X509Certificate[],
  { commonName, path, sans }: NamedSubject,
): ErrorDetail[] {
  const host = commonName.replace(/\.$/, '');
  const isHost = /^(?:\*\.)?(?:[a-z0-9_-]+\.)+[a-z0-9-]+$/i.test(host) && isIP(host) === 0;
  const names = [
    ...sans,
    ...(isHost && !sans.some(({ kind }) => kind === 'dns') ? [{ kind: 'dns' as const, value: host, path }] : []),
  ];
  return chain.flatMap((issuer) => {
    const constraints = nameConstraintsOf(issuer);
    return constraints === null ? [] : names.flatMap((name) => faultsOfName(constraints, name));
  });
}

/** Permitted names of an authority that lie outside of those of its issuers, so that nothing could be issued for them. */
export function subtreeViolations(
  chain: readonly X509Certificate[],
  subtrees: readonly (Subtree & { readonly path: string })[],
): ErrorDetail[] {
  return chain.flatMap((issuer) => {
    const { permitted = [] } = nameConstraintsOf(issuer) ?? {};
    return subtrees.flatMap(({ kind, value, path }) => {
      const same = permitted.filter((one) => one.kind === kind);
      return same.length === 0 || same.some((one) => isWithin(kind, value, one.value))
        ? []
        : [invalid(path, 'must be within the names that the issuer permits')];
    });
  });
}

function faultsOfName(
  { permitted, excluded }: NameConstraints,
  { kind, value, path }: San & { readonly path: string },
): ErrorDetail[] {
  const fault = (message: string): ErrorDetail[] => [invalid(path, message)];
  const same = permitted.filter((one) => one.kind === kind);
  if (same.length > 0 && !same.some((one) => isWithin(kind, value, one.value)))
    return fault('must be within the names that the issuer permits');
  return excluded.some((one) => one.kind === kind && touches(kind, value, one.value))
    ? fault('must not be within the names that the issuer excludes')
    : [];
}

/** A wildcard also matches an excluded name that it covers. */
const touches = (kind: SanKind, name: string, subtree: string): boolean =>
  isWithin(kind, name, subtree) || (kind === 'dns' && name.startsWith('*.') && isBelow(subtree, name.slice(2)));

/** Whether a name or subtree lies within a subtree (RFC 5280, section 4.2.1.10). */
function isWithin(kind: SanKind, name: string, subtree: string): boolean {
  if (kind === 'ip') return isInNetwork(name, subtree);
  const [wanted, base] = [name.toLowerCase(), subtree.toLowerCase()];
  if (kind === 'dns') return wanted === base || base === '' || isBelow(wanted, base.replace(/^\./, ''));
  if (kind === 'email' && base.includes('@')) return wanted === base;
  const host = kind === 'email' ? wanted.replace(/^.*@/, '') : hostOf(wanted);
  // A host matches only itself, a domain all hosts in it.
  return base.startsWith('.') ? host.endsWith(base) : host === base;
}

const isBelow = (name: string, base: string): boolean => name.toLowerCase().endsWith(`.${base.toLowerCase()}`);

/** The host of a URI; a subtree is a host already. */
const hostOf = (uri: string): string => (URL.canParse(uri) ? new URL(uri).hostname : uri);

function isInNetwork(name: string, network: string): boolean {
  const [address, bits] = name.includes('/') ? ipaddr.parseCIDR(name) : [ipaddr.parse(name), 128];
  const [base, wide] = ipaddr.parseCIDR(network);
  return address.kind() === base.kind() && bits >= wide && address.match(base as never, wide);
}
