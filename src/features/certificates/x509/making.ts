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

/** The name of a subject. */
export interface Subject {
  readonly commonName: string;
  readonly organization?: string | null | undefined;
  readonly organizationalUnit?: string | null | undefined;
  readonly locality?: string | null | undefined;
  readonly province?: string | null | undefined;
  /** Two letters. */
  readonly country?: string | null | undefined;
}

/** When a certificate holds. */
export interface Validity {
  readonly notBefore: Date;
  readonly notAfter: Date;
}

/** Who signs: a certificate of an authority, and its key. */
export interface Issuer {
  readonly certificate: X509Certificate;
  readonly privateKey: KeyObject;
  /** Where it publishes what its certificates name; null: nowhere. */
  readonly urls?: IssuerUrls | null;
}

/** Addresses of the revocation list, the OCSP responder and the certificate of an authority. */
export interface IssuerUrls {
  readonly list: string;
  readonly ocsp: string;
  readonly certificate: string;
}

/** In the order of directories, from the widest part. */
const PARTS = [
  ['C', 'country'],
  ['ST', 'province'],
  ['L', 'locality'],
  ['O', 'organization'],
  ['OU', 'organizationalUnit'],
  ['CN', 'commonName'],
] as const;

/** Typed values: texts alone would be read as RFC 4514 writes them, with escapes and `#` for bytes. */
const nameOf = (subject: Subject): Name =>
  new Name(
    PARTS.flatMap(([type, part]) => {
      const value = subject[part];
      if (value == null || value === '') return [];
      return [{ [type]: [type === 'C' ? { printableString: value } : { utf8String: value }] }];
    }) as unknown as JsonName,
  );

/** A serial number of 127 random bits, positive, whose first byte is not 0. Source: RFC 5280, section 4.1.2.2. */
function newSerialNumber(): string {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] as number) & 0x7f) | 0x40;
  return bytes.toString('hex');
}

/** What an authority may do. */
export interface AuthorityBounds {
  /** How many authorities may follow below; null: any number. */
  readonly maxPathLength: number | null;
  /** Null: any names that its issuers allow. */
  readonly nameConstraints?: NameConstraints | null | undefined;
}

const authorityUsages = (): Extension =>
  new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true);

const authorityExtensions = ({ maxPathLength, nameConstraints }: AuthorityBounds): Extension[] => [
  new BasicConstraintsExtension(true, maxPathLength ?? undefined, true),
  authorityUsages(),
  // An extension without any subtree is not allowed.
  ...(nameConstraints == null || nameConstraints.permitted.length + nameConstraints.excluded.length === 0
    ? []
    : [new Extension(ID_NAME_CONSTRAINTS, true, encodeNameConstraints(nameConstraints))]),
];

/** What a certificate is made of, beside who signs it. */
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

/** A certificate of an authority, signed by its own key. */
export function makeRoot(
  subject: Subject,
  { privateKey, publicKey }: KeyPair,
  { notBefore, notAfter, ...bounds }: Validity & AuthorityBounds,
): Promise<X509Certificate> {
  const name = nameOf(subject);
  const content = { subject: name, publicKey, extensions: authorityExtensions(bounds), notBefore, notAfter };
  return sign(content, { name, keyId: null, privateKey });
}

/** A certificate of an authority, signed by another one. */
export const makeIntermediate = (
  subject: Subject | Name,
  publicKey: KeyObject,
  issuer: Issuer,
  { notBefore, notAfter, ...bounds }: Validity & AuthorityBounds,
): Promise<X509Certificate> =>
  makeCertificate(subject, publicKey, issuer, { extensions: authorityExtensions(bounds), notBefore, notAfter });

/** A certificate with these extensions, signed by an authority. Both key ids are added, and where the authority publishes. */
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

/** Neither is critical: who does not know them goes on. Source: RFC 5280, sections 4.2.1.13 and 4.2.2.1. */
const placesOf = (urls: IssuerUrls | null): Extension[] =>
  urls === null
    ? []
    : [
        new CRLDistributionPointsExtension([urls.list]),
        new AuthorityInfoAccessExtension({ ocsp: urls.ocsp, caIssuers: urls.certificate }),
      ];

/** What a renewed authority keeps: basic constraints and name constraints. */
const KEPT = ['2.5.29.19', ID_NAME_CONSTRAINTS];

const keptOf = (old: X509Certificate) => {
  const { subjectName, extensions } = new PeculiarCertificate(old.raw);
  return {
    subject: subjectName,
    extensions: [...extensions.filter(({ type }) => KEPT.includes(type)), authorityUsages()],
  };
};

/**
 * A certificate of an authority that has one, of the same key, with the same subject, path length and name constraints.
 *
 * @param issuer null: it signs its own
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

/** The same as a request to an outside authority, as PEM. */
export const makeRenewalRequest = (old: X509Certificate, privateKey: KeyObject): Promise<string> => {
  const { subject, extensions } = keptOf(old);
  return makeRequest(subject, { privateKey, publicKey: old.publicKey }, extensions);
};

/** A request for a certificate of an authority, as PEM: what an outside authority signs. */
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

/** Whether a certificate is for the key of a request. */
export const isRequestOf = (request: string, certificate: X509Certificate): boolean =>
  Buffer.from(new Pkcs10CertificateRequest(request).publicKey.rawData).equals(spkiOf(certificate.publicKey));

/** A subject as RFC 4514 writes it. */
export const subjectText = (subject: Subject): string => nameOf(subject).toString();
