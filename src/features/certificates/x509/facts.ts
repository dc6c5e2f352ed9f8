import 'reflect-metadata';
import { X509Certificate } from 'node:crypto';
import { AsnConvert } from '@peculiar/asn1-schema';
import {
  AuthorityKeyIdentifier,
  BasicConstraints,
  Certificate,
  ExtendedKeyUsage,
  type GeneralName,
  id_ce_authorityKeyIdentifier,
  id_ce_basicConstraints,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_subjectAltName,
  id_ce_subjectKeyIdentifier,
  KeyUsage,
  SubjectAlternativeName,
  SubjectKeyIdentifier,
} from '@peculiar/asn1-x509';
import { Name } from '@peculiar/x509';
import { isStorable } from '../../../kernel/text-rules.js';
import { algorithmOf } from './keys.js';
import { extendedKeyUsagesOf, keyUsagesOf } from './usages.js';

/** A part of the name of a subject. */
export interface NameAttribute {
  /** `CN`, `O`, or the object identifier of a type without such a name. */
  readonly type: string;
  readonly value: string;
}

/** Kinds of alternative names that are shown; others are passed over. */
export type SanKind = 'dns' | 'ip' | 'email' | 'uri';

/** An alternative name of a subject. */
export interface San {
  readonly kind: SanKind;
  readonly value: string;
}

/** What a certificate says. */
export interface CertificateFacts {
  /** Hexadecimal, in upper case. */
  readonly serialNumber: string;
  /** As RFC 4514 writes it. */
  readonly subject: string;
  readonly subjectAttributes: readonly NameAttribute[];
  readonly issuer: string;
  /** The first one of the subject; empty when it has none. */
  readonly commonName: string;
  readonly sans: readonly San[];
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** As `algorithmOf` has it. */
  readonly keyAlgorithm: string;
  /** As RFC 5280 calls them. */
  readonly keyUsages: readonly string[];
  /** As RFC 5280 calls them; object identifiers of others. */
  readonly extendedKeyUsages: readonly string[];
  readonly isCa: boolean;
  /** How many authorities may follow below; null: as many as you like, or no authority. */
  readonly pathLength: number | null;
  /** Hexadecimal, in upper case. */
  readonly fingerprintSha256: string;
  readonly fingerprintSha1: string;
  readonly subjectKeyIdentifier: string | null;
  readonly authorityKeyIdentifier: string | null;
}

/** Of alternative names in characters; of what has an index in bytes, since its entries have at most 2,704. */
const MAX_NAME = 1_024;
/** What a column takes, and an answer. */
const MAX_INTEGER = 2_147_483_647;

/**
 * What a certificate says.
 *
 * @throws Error for one that cannot be read whole, or with names that cannot be stored
 */
export function factsOf(certificate: X509Certificate): CertificateFacts {
  const { tbsCertificate } = AsnConvert.parse(certificate.raw, Certificate);
  const extension = <T>(id: string, type: new () => T): T | null => {
    const found = tbsCertificate.extensions?.find(({ extnID }) => extnID === id);
    return found === undefined ? null : AsnConvert.parse(found.extnValue, type);
  };
  const subject = new Name(tbsCertificate.subject);
  const constraints = extension(id_ce_basicConstraints, BasicConstraints);
  const usages = extension(id_ce_keyUsage, KeyUsage)?.toNumber() ?? 0;
  const facts = {
    serialNumber: certificate.serialNumber.toUpperCase(),
    subject: subject.toString(),
    subjectAttributes: attributesOf(subject),
    issuer: new Name(tbsCertificate.issuer).toString(),
    commonName: subject.getField('CN')[0] ?? '',
    sans: sansOf(extension(id_ce_subjectAltName, SubjectAlternativeName) ?? []),
    notBefore: tbsCertificate.validity.notBefore.getTime(),
    notAfter: tbsCertificate.validity.notAfter.getTime(),
    keyAlgorithm: algorithmOf(certificate.publicKey),
    keyUsages: keyUsagesOf(usages),
    extendedKeyUsages: extendedKeyUsagesOf(extension(id_ce_extKeyUsage, ExtendedKeyUsage) ?? []),
    isCa: constraints?.cA ?? false,
    pathLength: (constraints?.cA ? constraints.pathLenConstraint : null) ?? null,
    fingerprintSha256: certificate.fingerprint256.replaceAll(':', ''),
    fingerprintSha1: certificate.fingerprint.replaceAll(':', ''),
    subjectKeyIdentifier: hexOf(extension(id_ce_subjectKeyIdentifier, SubjectKeyIdentifier)),
    authorityKeyIdentifier: hexOf(
      extension(id_ce_authorityKeyIdentifier, AuthorityKeyIdentifier)?.keyIdentifier ?? null,
    ),
  };
  refuseUnstorable(facts);
  return facts;
}

/** Certificates are written by strangers: their names may hold what no column takes. */
function refuseUnstorable({ subject, issuer, sans, ...facts }: CertificateFacts): void {
  const { commonName, serialNumber, notBefore, notAfter, pathLength } = facts;
  const names = [subject, issuer, ...sans.map(({ value }) => value)];
  const isTooLong =
    [commonName, serialNumber].some((text) => Buffer.byteLength(text) > MAX_NAME) ||
    sans.some(({ value }) => value.length > MAX_NAME);
  if (!names.every(isStorable) || isTooLong) throw new Error('a name in the certificate cannot be stored');
  if (pathLength !== null && !(pathLength >= 0 && pathLength <= MAX_INTEGER))
    throw new Error('the path length is none');
  if (!(notBefore.getTime() <= notAfter.getTime())) throw new Error('the certificate is never valid');
}

/** The parts of a name, in their order. */
export const attributesOf = (name: Name): NameAttribute[] =>
  name
    .toJSON()
    .flatMap((part) => Object.entries(part).flatMap(([type, values]) => values.map((value) => ({ type, value }))));

/** Alternative names of the kinds that are shown. */
export const sansOf = (names: Iterable<GeneralName>): San[] =>
  [...names].flatMap(({ dNSName, iPAddress, rfc822Name, uniformResourceIdentifier }): San[] => {
    if (dNSName !== undefined) return [{ kind: 'dns', value: dNSName }];
    if (iPAddress !== undefined) return [{ kind: 'ip', value: iPAddress }];
    if (rfc822Name !== undefined) return [{ kind: 'email', value: rfc822Name }];
    return uniformResourceIdentifier === undefined ? [] : [{ kind: 'uri', value: uniformResourceIdentifier }];
  });

const hexOf = (bytes: { readonly buffer: ArrayBuffer } | null): string | null =>
  bytes === null ? null : Buffer.from(bytes.buffer).toString('hex').toUpperCase();

/** The certificate of these bytes, and nothing behind it. @throws Error for bytes that are none */
export function readCertificate(der: Buffer): X509Certificate {
  const certificate = new X509Certificate(der);
  if (certificate.raw.length !== der.length) throw new Error('there is something behind the certificate');
  factsOf(certificate);
  return certificate;
}
