import type { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { AsnConvert } from '@peculiar/asn1-schema';
import { Certificate } from '@peculiar/asn1-x509';
import ipaddr from 'ipaddr.js';
import type { ErrorDetail } from '../../../kernel/errors.js';
import { contentOf, partsOf, sequence, tlv } from './der.js';
import type { San, SanKind } from './facts.js';

export const ID_NAME_CONSTRAINTS = '2.5.29.30';

/**
 * A part of the names of a kind: `example.com` and what is below it; `10.0.0.0/8`; an e-mail address, a host or `.example.com`; the host
 * of URIs or `.example.com`.
 */
export type Subtree = San;

/** Of which names certificates below an authority may be, and of which not. A kind that is not permitted anywhere is free. */
export interface NameConstraints {
  readonly permitted: readonly Subtree[];
  readonly excluded: readonly Subtree[];
}

/** Tags of general names. Source: RFC 5280, section 4.2.1.6. */
const TAGS = { email: 0x81, dns: 0x82, uri: 0x86, ip: 0x87 } as const satisfies Record<SanKind, number>;
const KINDS = Object.fromEntries(Object.entries(TAGS).map(([kind, tag]) => [tag, kind as SanKind]));

/** Constraints in DER, without what makes an extension of them. Source: RFC 5280, section 4.2.1.10. */
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

/** What a certificate allows below it; null where it says nothing. Kinds of names that are not known here are passed over. @throws Error for what cannot be read */
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
  if (bits === null) throw new Error('a network in the certificate has holes');
  return `${address.toString()}/${bits}`;
}

/** Names of a certificate that is about to be issued, and where they were given. */
export interface NamedSubject {
  readonly commonName: string;
  /** Where the common name was given. */
  readonly path: string;
  readonly sans: readonly (San & { readonly path: string })[];
}

/**
 * What an issuer and those above it do not allow in a certificate, each at its place. The common name counts as a name in DNS where there
 * is none and it looks like one, as openssl has it; also with a wildcard, which some programs take from there.
 *
 * @param chain of the issuer: its own certificate, and those of its issuers
 */
export function faultsOfNameConstraints(
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

/** What the permitted names of an authority lack in those that its issuers permit: nothing could be issued of them. */
export function faultsOfSubtrees(
  chain: readonly X509Certificate[],
  subtrees: readonly (Subtree & { readonly path: string })[],
): ErrorDetail[] {
  return chain.flatMap((issuer) => {
    const { permitted = [] } = nameConstraintsOf(issuer) ?? {};
    return subtrees.flatMap(({ kind, value, path }) => {
      const same = permitted.filter((one) => one.kind === kind);
      return same.length === 0 || same.some((one) => isWithin(kind, value, one.value))
        ? []
        : [{ path, code: 'INVALID' as const, message: 'must lie within what the issuer permits' }];
    });
  });
}

function faultsOfName(
  { permitted, excluded }: NameConstraints,
  { kind, value, path }: San & { readonly path: string },
): ErrorDetail[] {
  const fault = (message: string): ErrorDetail[] => [{ path, code: 'INVALID', message }];
  const same = permitted.filter((one) => one.kind === kind);
  if (same.length > 0 && !same.some((one) => isWithin(kind, value, one.value)))
    return fault('must be among the names that the issuer permits');
  return excluded.some((one) => one.kind === kind && touches(kind, value, one.value))
    ? fault('must not be among the names that the issuer excludes')
    : [];
}

/** A wildcard also stands for the excluded name that it could be used for. */
const touches = (kind: SanKind, name: string, subtree: string): boolean =>
  isWithin(kind, name, subtree) || (kind === 'dns' && name.startsWith('*.') && isBelow(subtree, name.slice(2)));

/** Whether a name, or a subtree, lies within a subtree. Source: RFC 5280, section 4.2.1.10. */
function isWithin(kind: SanKind, name: string, subtree: string): boolean {
  if (kind === 'ip') return isInNetwork(name, subtree);
  const [wanted, base] = [name.toLowerCase(), subtree.toLowerCase()];
  if (kind === 'dns') return wanted === base || base === '' || isBelow(wanted, base.replace(/^\./, ''));
  if (kind === 'email' && base.includes('@')) return wanted === base;
  const host = kind === 'email' ? wanted.replace(/^.*@/, '') : hostOf(wanted);
  // A host is itself alone, and a domain all hosts in it.
  return base.startsWith('.') ? host.endsWith(base) : host === base;
}

const isBelow = (name: string, base: string): boolean => name.toLowerCase().endsWith(`.${base.toLowerCase()}`);

/** The host of a URI; a subtree is one already. */
const hostOf = (uri: string): string => (URL.canParse(uri) ? new URL(uri).hostname : uri);

function isInNetwork(name: string, network: string): boolean {
  const [address, bits] = name.includes('/') ? ipaddr.parseCIDR(name) : [ipaddr.parse(name), 128];
  const [base, wide] = ipaddr.parseCIDR(network);
  return address.kind() === base.kind() && bits >= wide && address.match(base as never, wide);
}
