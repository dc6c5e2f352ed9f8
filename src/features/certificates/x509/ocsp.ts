import 'reflect-metadata';
import { createHash, type X509Certificate } from 'node:crypto';
import {
  type CertID,
  CertStatus,
  id_pkix_ocsp_basic,
  id_pkix_ocsp_nonce,
  KeyHash,
  OCSPRequest,
  OCSPResponse,
  OCSPResponseStatus,
  ResponderID,
  ResponseBytes,
  ResponseData,
  RevokedInfo,
  SingleResponse,
} from '@peculiar/asn1-ocsp';
import { AsnConvert, OctetString } from '@peculiar/asn1-schema';
import { CRLReason, type Extension } from '@peculiar/asn1-x509';
import { keyHash, type Revocation, reasonCode, serialText, signedSequence, subjectOf } from './crl.js';
import type { Issuer } from './making.js';

/** An OCSP request. */
interface OcspRequest {
  readonly ids: readonly CertID[];
  /** Nonce to echo; null if there is none. */
  readonly nonce: Extension | null;
}

/** Status of a certificate. */
export type OcspStatus = 'good' | 'unknown' | Pick<Revocation, 'revokedAt' | 'reason'>;

/** Hash algorithms of names and keys that requests may use. */
const HASHES: Readonly<Record<string, string>> = {
  '1.3.14.3.2.26': 'sha1',
  '2.16.840.1.101.3.4.2.1': 'sha256',
  '2.16.840.1.101.3.4.2.2': 'sha384',
  '2.16.840.1.101.3.4.2.3': 'sha512',
};
/** Maximum number of certificates in one request. */
const MAX_CERTIFICATES = 100;
/** Maximum length of a nonce, with tag and length (RFC 9654, section 2.1). */
const MAX_NONCE_BYTES = 131;

/** Parses a request (RFC 6960, section 4.1); null if it is invalid. */
export function readOcspRequest(der: Uint8Array): OcspRequest | null {
  try {
    const { requestList, requestExtensions } = AsnConvert.parse(der, OCSPRequest).tbsRequest;
    const nonce = requestExtensions?.find(({ extnID }) => extnID === id_pkix_ocsp_nonce) ?? null;
    const isTooLong = nonce !== null && nonce.extnValue.byteLength > MAX_NONCE_BYTES;
    if (requestList.length === 0 || requestList.length > MAX_CERTIFICATES || isTooLong) return null;
    return { ids: requestList.map(({ reqCert }) => reqCert), nonce };
  } catch {
    return null;
  }
}

/** The serial number in a request; null if it is for another issuer. */
export function serialIfIssuedBy(issuer: X509Certificate, id: CertID): string | null {
  const hash = HASHES[id.hashAlgorithm.algorithm];
  if (hash === undefined) return null;
  const name = createHash(hash).update(subjectOf(issuer)).digest();
  const isIssuer =
    name.equals(Buffer.from(id.issuerNameHash.buffer)) &&
    keyHash(issuer.publicKey, hash).equals(Buffer.from(id.issuerKeyHash.buffer));
  return isIssuer ? serialText(id.serialNumber) : null;
}

/** An unsigned error response. */
export const ocspRefusal = (status: 'malformedRequest' | 'unauthorized'): Buffer =>
  Buffer.from(AsnConvert.serialize(new OCSPResponse({ responseStatus: OCSPResponseStatus[status] as never })));

/**
 * A response in DER, signed by the authority itself.
 *
 * @param statuses of the certificates in the request, in order
 */
export async function makeOcspResponse(
  { certificate, privateKey }: Issuer,
  { ids, nonce }: OcspRequest,
  {
    statuses,
    now,
    nextUpdate,
  }: { readonly statuses: readonly OcspStatus[]; readonly now: Date; readonly nextUpdate: Date },
): Promise<Buffer> {
  const data = new ResponseData({
    responderID: new ResponderID({ byKey: new KeyHash(keyHash(certificate.publicKey)) }),
    producedAt: now,
    responses: ids.map(
      (certID, at) =>
        new SingleResponse({
          certID,
          certStatus: statusOf(statuses[at] as OcspStatus),
          thisUpdate: now,
          nextUpdate,
        }),
    ),
    ...(nonce !== null && { responseExtensions: [nonce] }),
  });
  const basic = await signedSequence(Buffer.from(AsnConvert.serialize(data)), privateKey);
  const response = new OCSPResponse({
    responseStatus: OCSPResponseStatus.successful as never,
    responseBytes: new ResponseBytes({ responseType: id_pkix_ocsp_basic, response: new OctetString(basic) }),
  });
  return Buffer.from(AsnConvert.serialize(response));
}

function statusOf(status: OcspStatus): CertStatus {
  if (status === 'good') return new CertStatus({ good: null });
  if (status === 'unknown') return new CertStatus({ unknown: null });
  const reason = reasonCode(status.reason);
  return new CertStatus({
    revoked: new RevokedInfo({
      // Without fractional seconds (RFC 5280, section 4.1.2.5.2).
      revocationTime: new Date(Math.floor(status.revokedAt.getTime() / 1_000) * 1_000),
      ...(reason !== 0 && { revocationReason: new CRLReason(reason) }),
    }),
  });
}
