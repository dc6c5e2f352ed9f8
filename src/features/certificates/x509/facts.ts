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
import { isStorable } from '../../../kernel/value-rules.js';
import { contentOf, partsOf } from './der.js';
import { algorithmOf } from './keys.js';
import { toPem } from './pem.js';
import { extendedKeyUsagesOf, type KeyUsageName, keyUsagesOf } from './usages.js';

/** An attribute of a subject. */
export interface NameAttribute {
  /** `CN`, `O`, or the object identifier of a type without a short name. */
  readonly type: string;
  readonly value: string;
}

/** Supported kinds of alternative names; others are ignored. */
export type SanKind = 'dns' | 'ip' | 'email' | 'uri';

/** A subject alternative name. */
export interface San {
  readonly kind: SanKind;
  readonly value: string;
}

/** Properties of a certificate. */
export interface CertificateFacts {
  /** Upper-case hexadecimal. */
  readonly serialNumber: string;
  /** In the format of RFC 4514. */
  readonly subject: string;
  readonly subjectAttributes: readonly NameAttribute[];
  readonly issuer: string;
  /** The first common name of the subject; empty if it has none. */
  readonly commonName: string;
  readonly sans: readonly San[];
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** In the format of `algorithmOf`. */
  readonly keyAlgorithm: string;
  /** With the names of RFC 5280. */
  readonly keyUsages: readonly string[];
  /** With the names of RFC 5280; object identifiers for others. */
  readonly extendedKeyUsages: readonly string[];
  readonly isCa: boolean;
  /** Maximum number of authorities below; null: unlimited, or not an authority. */
  readonly pathLength: number | null;
  /** Upper-case hexadecimal. */
  readonly fingerprintSha256: string;
  readonly fingerprintSha1: string;
  readonly subjectKeyIdentifier: string | null;
  readonly authorityKeyIdentifier: string | null;
}

/** Limit of alternative names in characters, and of indexed columns in bytes, because index entries have at most 2,704. */
const MAX_NAME = 1_024;
/** Limit of columns and responses. */
const MAX_INTEGER = 2_147_483_647;

/**
 * Parses the properties of a certificate.
 *
 * @throws Error if it cannot be parsed completely, or has names that cannot be stored
 */
export function factsOf(certificate: X509Certificate): CertificateFacts {
  refuseImpossibleTimes(certificate.raw);
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

/** `MMDDhhmm` after the year, with seconds; some certificates that are older than RFC 5280 have none, a fraction or a zone. */
const AFTER_YEAR = /^(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)?(?:\.\d+)?(?:Z|[+-]\d{4})$/;
const UTC_TIME = 0x17;

/** The parser would take the month 13 for January of the next year. */
function refuseImpossibleTimes(der: Buffer): void {
  const [tbs = der] = partsOf(der);
  const parts = partsOf(tbs);
  // Before it: a version, which is optional and tagged, the serial number, an algorithm and the issuer.
  const validity = parts[parts[0]?.[0] === 0xa0 ? 4 : 3] ?? der;
  for (const time of partsOf(validity)) {
    const text = contentOf(time).toString('latin1');
    const digits = time[0] === UTC_TIME ? 2 : 4;
    const year = text.slice(0, digits);
    const given =
      AFTER_YEAR.exec(text.slice(digits))
        ?.slice(1)
        .map((part) => Number(part ?? 0)) ?? [];
    const [month = 0, day = 0, hour = 0, minute = 0, second = 0] = given;
    // Also of two digits: 2000 and 1900 do not differ in any year that certificates have.
    const date = new Date(Date.UTC(2000 + (Number(year) % 400), month - 1, day, hour, minute, second));
    const read = [date.getUTCMonth() + 1, date.getUTCDate(), date.getUTCHours(), date.getUTCMinutes()];
    const isReal = read.join() === [month, day, hour, minute].join() && second < 60;
    if (!isReal || !/^\d+$/.test(year) || year === '0000') throw new Error('the certificate has an impossible time');
  }
}

/** Certificates come from anywhere: their names may contain what no column can store. */
function refuseUnstorable({ subject, issuer, sans, ...facts }: CertificateFacts): void {
  const { commonName, serialNumber, notBefore, notAfter, pathLength } = facts;
  const names = [subject, issuer, ...sans.map(({ value }) => value)];
  const isTooLong =
    [commonName, serialNumber].some((text) => Buffer.byteLength(text) > MAX_NAME) ||
    sans.some(({ value }) => value.length > MAX_NAME);
  if (!names.every(isStorable) || isTooLong) throw new Error('a name in the certificate cannot be stored');
  if (pathLength !== null && !(pathLength >= 0 && pathLength <= MAX_INTEGER)) throw new Error('invalid path length');
  if (!(notBefore.getTime() <= notAfter.getTime())) throw new Error('the certificate is never valid');
}

/** The attributes of a name, in order. */
export const attributesOf = (name: Name): NameAttribute[] =>
  name
    .toJSON()
    .flatMap((part) => Object.entries(part).flatMap(([type, values]) => values.map((value) => ({ type, value }))));

/** Alternative names of supported kinds. */
const sansOf = (names: Iterable<GeneralName>): San[] =>
  [...names].flatMap(({ dNSName, iPAddress, rfc822Name, uniformResourceIdentifier }): San[] => {
    if (dNSName !== undefined) return [{ kind: 'dns', value: dNSName }];
    if (iPAddress !== undefined) return [{ kind: 'ip', value: iPAddress }];
    if (rfc822Name !== undefined) return [{ kind: 'email', value: rfc822Name }];
    return uniformResourceIdentifier === undefined ? [] : [{ kind: 'uri', value: uniformResourceIdentifier }];
  });

const hexOf = (bytes: { readonly buffer: ArrayBuffer } | null): string | null =>
  bytes === null ? null : Buffer.from(bytes.buffer).toString('hex').toUpperCase();

/** Parses a certificate without trailing bytes. @throws Error if it is invalid */
export function readCertificate(der: Buffer): X509Certificate {
  const certificate = new X509Certificate(der);
  if (certificate.raw.length !== der.length) throw new Error('trailing bytes after the certificate');
  factsOf(certificate);
  return certificate;
}

/** What the inventory keeps of a certificate: the certificate itself, and the properties by which it is listed. */
export function inventoryColumns(certificate: X509Certificate) {
  const { sans, commonName, serialNumber, notBefore, notAfter, ...facts } = factsOf(certificate);
  const { keyAlgorithm, fingerprintSha256, isCa } = facts;
  return {
    ...{ commonName, sans: sans.map(({ value }) => value), serialNumber, notBefore, notAfter },
    ...{ keyAlgorithm, fingerprintSha256, isCa, certificate: toPem('CERTIFICATE', certificate.raw) },
  };
}

/** Subject and usage in a request or certificate. Null: not stated. */
export interface ParsedContent {
  readonly subject: readonly NameAttribute[];
  readonly sans: readonly San[] | null;
  /** Whether it has alternative names of unsupported kinds. */
  readonly hasOtherSans: boolean;
  readonly keyUsages: readonly KeyUsageName[] | null;
  /** Object identifiers for usages without a name. */
  readonly extendedKeyUsages: readonly string[] | null;
  readonly isCa: boolean | null;
  readonly pathLength: number | null;
}

interface RawExtension {
  readonly id: string;
  readonly value: ArrayBuffer;
}

/** @throws Error for extensions that cannot be parsed */
export function parseContent(subject: Name, extensions: readonly RawExtension[]): ParsedContent {
  const extension = <T>(wanted: string, type: new () => T): T | null => {
    const found = extensions.find(({ id }) => id === wanted);
    return found === undefined ? null : AsnConvert.parse(found.value, type);
  };
  const names = extension(id_ce_subjectAltName, SubjectAlternativeName);
  const sans = names === null ? null : sansOf(names);
  const usages = extension(id_ce_keyUsage, KeyUsage);
  const extended = extension(id_ce_extKeyUsage, ExtendedKeyUsage);
  const constraints = extension(id_ce_basicConstraints, BasicConstraints);
  return {
    subject: attributesOf(subject),
    sans,
    hasOtherSans: sans?.length !== names?.length,
    keyUsages: usages === null ? null : keyUsagesOf(usages.toNumber()),
    extendedKeyUsages: extended === null ? null : extendedKeyUsagesOf(extended),
    isCa: constraints === null ? null : constraints.cA,
    pathLength: constraints?.pathLenConstraint ?? null,
  };
}

/** The same for a certificate: what it does not state is empty. */
export function parseCertificateContent(certificate: X509Certificate): ParsedContent {
  const { subject, extensions = [] } = AsnConvert.parse(certificate.raw, Certificate).tbsCertificate;
  const stated = parseContent(
    new Name(subject),
    extensions.map(({ extnID, extnValue }) => ({ id: extnID, value: extnValue.buffer as ArrayBuffer })),
  );
  return {
    ...stated,
    sans: stated.sans ?? [],
    keyUsages: stated.keyUsages ?? [],
    extendedKeyUsages: stated.extendedKeyUsages ?? [],
    isCa: stated.isCa ?? false,
  };
}
