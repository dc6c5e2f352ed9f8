import type { PublicDocument, PublicRequest, PublicResponse } from '../../../kernel/http/public-documents.js';
import { toPem } from '../x509/pem.js';
import type { RevocationService } from './revocation.service.js';

/** Cache lifetime in seconds: clients behind a cache see a revocation no later than this. */
const KEPT_SECONDS = 300;

const PATH = '/pki/:authorityId';

/** URLs of the documents of an authority, which its certificates contain. @param base URL of the service */
export const publicUrlsOf = (base: string, authorityId: string) => ({
  list: `${base}/pki/${authorityId}/crl`,
  ocsp: `${base}/pki/${authorityId}/ocsp`,
  certificate: `${base}/pki/${authorityId}/certificate`,
});

/** Public documents of authorities: certificate, revocation list and OCSP responses. IDs of authorities cannot be guessed. */
export function publicDocuments(revocation: RevocationService): PublicDocument[] {
  const respond = async ({ kernel, contextOf, params }: PublicRequest, der: Buffer): Promise<PublicResponse> => {
    const { response, isLasting } = await revocation.respond(kernel, contextOf, authorityOf(params), der);
    return { type: 'application/ocsp-response', bytes: response, maxAgeSeconds: isLasting ? KEPT_SECONDS : 0 };
  };
  return [
    {
      method: 'GET',
      path: `${PATH}/crl`,
      answer: async ({ kernel, contextOf, params, query }) => {
        const list = await revocation.list(kernel, contextOf, authorityOf(params));
        return inFormat(query, { label: 'X509 CRL', type: 'application/pkix-crl', der: list });
      },
    },
    {
      method: 'GET',
      path: `${PATH}/certificate`,
      answer: async ({ kernel, params, query }) => {
        const der = await revocation.certificate(kernel, authorityOf(params));
        return inFormat(query, { label: 'CERTIFICATE', type: 'application/pkix-cert', der });
      },
    },
    {
      method: 'POST',
      path: `${PATH}/ocsp`,
      bodyType: 'application/ocsp-request',
      answer: (request) => respond(request, request.body),
    },
    // Base64 may contain slashes.
    {
      method: 'GET',
      path: `${PATH}/ocsp/*`,
      answer: (request) => respond(request, Buffer.from(request.params['*'] ?? '', 'base64')),
    },
  ];
}

const authorityOf = ({ authorityId = '' }: PublicRequest['params']): string => authorityId;

/** DER, or PEM if the query has `format=pem`. */
const inFormat = (
  { format }: PublicRequest['query'],
  { label, type, der }: { readonly label: string; readonly type: string; readonly der: Buffer },
): PublicResponse =>
  format === 'pem'
    ? { type: 'application/x-pem-file', bytes: Buffer.from(toPem(label, der)), maxAgeSeconds: KEPT_SECONDS }
    : { type, bytes: der, maxAgeSeconds: KEPT_SECONDS };
