import 'reflect-metadata';
import { type KeyObject, randomBytes, X509Certificate } from 'node:crypto';
import {
  AuthorityInfoAccessExtension,
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  CRLDistributionPointsExtension,
  Extension,
  type JsonName,
  KeyUsageFlags,
  KeyUsagesExtension,
  Name,
  X509Certificate as PeculiarCertificate,
  Pkcs10CertificateRequest,
  Pkcs10CertificateRequestGenerator,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { type KeyPair, signerOf, spkiOf, verifierOf } from './keys.js';
import { encodeNameConstraints, ID_NAME_CONSTRAINTS, type NameConstraints } from './name-constraints.js';
import { toPem } from './pem.js';

/** A subject. */
interface Subject {
  readonly commonName: string;
  readonly organization?: string | null | undefined;
  readonly organizationalUnit?: string | null | undefined;
  readonly locality?: string | null | undefined;
  readonly province?: string | null | undefined;
  /** Two letters. */
  readonly country?: string | null | undefined;
}

/** A validity period. */
export interface Validity {
  readonly notBefore: Date;
  readonly notAfter: Date;
}

/** The signer: a CA certificate and its key. */
export interface Issuer {
  readonly certificate: X509Certificate;
  readonly privateKey: KeyObject;
  /** URLs of its public documents; null: none. */
  readonly urls?: IssuerUrls | null;
}

/** URLs of the revocation list, the OCSP responder and the certificate of an authority. */
interface IssuerUrls {
  readonly list: string;
  readonly ocsp: string;
  readonly certificate: string;
}

/** In the usual order, from country to common name. */
const PARTS = [
  ['C', 'country'],
  ['ST', 'province'],
  ['L', 'locality'],
  ['O', 'organization'],
  ['OU', 'organizationalUnit'],
  ['CN', 'commonName'],
] as const;

/** Typed values: plain strings would be parsed as RFC 4514, with escapes and `#` for bytes. */
const nameOf = (subject: Subject): Name =>
  new Name(
    PARTS.flatMap(([type, part]) => {
      const value = subject[part];
      if (value == null || value === '') return [];
      return [{ [type]: [type === 'C' ? { printableString: value } : { utf8String: value }] }];
    }) as unknown as JsonName,
  );

/** A positive serial number of 127 random bits whose first byte is not 0 (RFC 5280, section 4.1.2.2). */
function newSerialNumber(): string {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] as number) & 0x7f) | 0x40;
  return bytes.toString('hex');
}

/** Constraints of an authority. */
interface AuthorityBounds {
  /** Maximum number of authorities below; null: unlimited. */
  readonly maxPathLength: number | null;
  /** Null: any names that its issuers allow. */
  readonly nameConstraints?: NameConstraints | null | undefined;
}

const authorityUsages = (): Extension =>
  new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true);

const authorityExtensions = ({ maxPathLength, nameConstraints }: AuthorityBounds): Extension[] => [
  new BasicConstraintsExtension(true, maxPathLength ?? undefined, true),
  authorityUsages(),
  // An empty extension is not allowed.
  ...(nameConstraints == null || nameConstraints.permitted.length + nameConstraints.excluded.length === 0
    ? []
    : [new Extension(ID_NAME_CONSTRAINTS, true, encodeNameConstraints(nameConstraints))]),
];

/** The content of a certificate, without its signer. */
interface Content extends Validity {
  readonly subject: Name;
  readonly publicKey: KeyObject;
  readonly extensions: readonly Extension[];
}

async function sign(
  { subject, publicKey, extensions, notBefore, notAfter }: Content,
  issuer: { readonly name: Name; readonly keyId: string | null; readonly privateKey: KeyObject },
): Promise<X509Certificate> {
  const [{ key, algorithm }, subjectKey] = await Promise.all([signerOf(issuer.privateKey), verifierOf(publicKey)]);
  const subjectKeyId = await SubjectKeyIdentifierExtension.create(subjectKey);
  const made = await X509CertificateGenerator.create({
    serialNumber: newSerialNumber(),
    subject,
    issuer: issuer.name,
    notBefore,
    notAfter,
    publicKey: subjectKey,
    signingKey: key,
    signingAlgorithm: algorithm,
    extensions: [
      ...extensions,
      subjectKeyId,
      new AuthorityKeyIdentifierExtension(issuer.keyId ?? subjectKeyId.keyId, false),
    ],
  });
  return new X509Certificate(Buffer.from(made.rawData));
}

/** A self-signed CA certificate. */
export function makeRoot(
  subject: Subject,
  { privateKey, publicKey }: KeyPair,
  { notBefore, notAfter, ...bounds }: Validity & AuthorityBounds,
): Promise<X509Certificate> {
  const name = nameOf(subject);
  const content = { subject: name, publicKey, extensions: authorityExtensions(bounds), notBefore, notAfter };
  return sign(content, { name, keyId: null, privateKey });
}

/** A CA certificate signed by another authority. */
export const makeIntermediate = (
  subject: Subject | Name,
  publicKey: KeyObject,
  issuer: Issuer,
  { notBefore, notAfter, ...bounds }: Validity & AuthorityBounds,
): Promise<X509Certificate> =>
  makeCertificate(subject, publicKey, issuer, { extensions: authorityExtensions(bounds), notBefore, notAfter });

/** A certificate with these extensions, signed by an authority. Adds both key identifiers and the URLs of the authority. */
export async function makeCertificate(
  subject: Subject | Name,
  publicKey: KeyObject,
  { certificate, privateKey, urls = null }: Issuer,
  { extensions, ...validity }: Validity & { readonly extensions: readonly Extension[] },
): Promise<X509Certificate> {
  const issuer = new PeculiarCertificate(certificate.raw);
  const keyId =
    issuer.getExtension(SubjectKeyIdentifierExtension)?.keyId ??
    (await SubjectKeyIdentifierExtension.create(issuer.publicKey)).keyId;
  return sign(
    {
      subject: subject instanceof Name ? subject : nameOf(subject),
      publicKey,
      extensions: [...extensions, ...placesOf(urls)],
      ...validity,
    },
    { name: issuer.subjectName, keyId, privateKey },
  );
}

/** Not critical: clients that do not support them ignore them (RFC 5280, sections 4.2.1.13 and 4.2.2.1). */
const placesOf = (urls: IssuerUrls | null): Extension[] =>
  urls === null
    ? []
    : [
        new CRLDistributionPointsExtension([urls.list]),
        new AuthorityInfoAccessExtension({ ocsp: urls.ocsp, caIssuers: urls.certificate }),
      ];

/** Extensions that a renewed authority keeps: basic constraints and name constraints. */
const KEPT = ['2.5.29.19', ID_NAME_CONSTRAINTS];

const keptOf = (old: X509Certificate) => {
  const { subjectName, extensions } = new PeculiarCertificate(old.raw);
  return {
    subject: subjectName,
    extensions: [...extensions.filter(({ type }) => KEPT.includes(type)), authorityUsages()],
  };
};

/**
 * Renews the certificate of an authority, with the same key, subject, path length and name constraints.
 *
 * @param issuer null: self-signed
 */
export function makeRenewal(
  old: X509Certificate,
  privateKey: KeyObject,
  issuer: Issuer | null,
  validity: Validity,
): Promise<X509Certificate> {
  const { subject, extensions } = keptOf(old);
  const { notBefore, notAfter } = validity;
  if (issuer !== null) return makeCertificate(subject, old.publicKey, issuer, { extensions, notBefore, notAfter });
  const content = { subject, publicKey: old.publicKey, extensions, notBefore, notAfter };
  return sign(content, { name: subject, keyId: null, privateKey });
}

/** The same as a certificate request for an external authority, as PEM. */
export const makeRenewalRequest = (old: X509Certificate, privateKey: KeyObject): Promise<string> => {
  const { subject, extensions } = keptOf(old);
  return makeRequest(subject, { privateKey, publicKey: old.publicKey }, extensions);
};

/** A certificate request of an authority for an external authority, as PEM. */
export const makeAuthorityRequest = (subject: Subject, pair: KeyPair, bounds: AuthorityBounds): Promise<string> =>
  makeRequest(nameOf(subject), pair, authorityExtensions(bounds));

async function makeRequest(name: Name, { privateKey, publicKey }: KeyPair, extensions: Extension[]): Promise<string> {
  const [{ key, algorithm }, subjectKey] = await Promise.all([signerOf(privateKey), verifierOf(publicKey)]);
  const request = await Pkcs10CertificateRequestGenerator.create({
    name,
    keys: { privateKey: key, publicKey: subjectKey },
    signingAlgorithm: algorithm,
    extensions,
  });
  return toPem('CERTIFICATE REQUEST', Buffer.from(request.rawData));
}

/** Whether a certificate was issued for the key of a request. */
export const isRequestOf = (request: string, certificate: X509Certificate): boolean =>
  Buffer.from(new Pkcs10CertificateRequest(request).publicKey.rawData).equals(spkiOf(certificate.publicKey));

/** A subject in the format of RFC 4514. */
export const subjectText = (subject: Subject): string => nameOf(subject).toString();
