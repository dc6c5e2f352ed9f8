import type { PublicAnswer, PublicDocument, PublicRequest } from '../../../kernel/http/public-documents.js';
import { toPem } from '../x509/pem.js';
import type { RevocationService } from './revocation.service.js';

/** A revocation is seen no later than so many seconds by whoever asks through a cache. */
const KEPT_SECONDS = 300;

const PATH = '/pki/:authorityId';

/** Where an authority publishes what its certificates name. @param base the address of the service */
export const urlsOf = (base: string, authorityId: string) => ({
  list: `${base}/pki/${authorityId}/crl`,
  ocsp: `${base}/pki/${authorityId}/ocsp`,
  certificate: `${base}/pki/${authorityId}/certificate`,
});

/** What authorities publish: their certificate, their revocation list, and OCSP responses. Ids of authorities cannot be guessed. */
export function publicDocuments(revocation: RevocationService): PublicDocument[] {
  const respond = async ({ kernel, contextOf, params }: PublicRequest, der: Buffer): Promise<PublicAnswer> => {
    const { response, isLasting } = await revocation.respond(kernel, contextOf, authorityOf(params), der);
    return { type: 'application/ocsp-response', bytes: response, maxAgeSeconds: isLasting ? KEPT_SECONDS : 0 };
  };
  return [
    {
      method: 'GET',
      path: `${PATH}/crl`,
      answer: async ({ kernel, contextOf, params, query }) => {
        const list = await revocation.list(kernel, contextOf, authorityOf(params));
        return asked(query, { label: 'X509 CRL', type: 'application/pkix-crl', der: list });
      },
    },
    {
      method: 'GET',
      path: `${PATH}/certificate`,
      answer: async ({ kernel, params, query }) => {
        const der = await revocation.certificate(kernel, authorityOf(params));
        return asked(query, { label: 'CERTIFICATE', type: 'application/pkix-cert', der });
      },
    },
    {
      method: 'POST',
      path: `${PATH}/ocsp`,
      bodyType: 'application/ocsp-request',
      answer: (request) => respond(request, request.body),
    },
    // Base64 may have slashes.
    {
      method: 'GET',
      path: `${PATH}/ocsp/*`,
      answer: (request) => respond(request, Buffer.from(request.params['*'] ?? '', 'base64')),
    },
  ];
}

const authorityOf = ({ authorityId = '' }: PublicRequest['params']): string => authorityId;

/** DER, or PEM where the query says `format=pem`. */
const asked = (
  { format }: PublicRequest['query'],
  { label, type, der }: { readonly label: string; readonly type: string; readonly der: Buffer },
): PublicAnswer =>
  format === 'pem'
    ? { type: 'application/x-pem-file', bytes: Buffer.from(toPem(label, der)), maxAgeSeconds: KEPT_SECONDS }
    : { type, bytes: der, maxAgeSeconds: KEPT_SECONDS };
