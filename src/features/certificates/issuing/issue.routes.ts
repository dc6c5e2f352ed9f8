import * as z from 'zod';
import { bodyOf, boundedPaging, type Data, ofSample, type Route, routesAt, withoutNull } from '../../../rest/route.js';
import { CERTIFICATE_FIELDS } from '../certificates/certificate.routes.js';
import { IssueCertificate, RenewCertificate, requestKind, requestState, SignIntermediate } from './issue.rules.js';

const BASE = '/api/v1/cert-manager';
const certificates = routesAt(`${BASE}/certificates`, { select: CERTIFICATE_FIELDS });
const lineages = routesAt(`${BASE}/certificate-lineages`, { select: CERTIFICATE_FIELDS });

const KIND_OF_REQUESTER = {
  type: 'string',
  description: 'Kind of the requester: `user`, `identity` or `system`, for example `identity`.',
};
/** Clients are generated with the kind of the requester as a text. */
const requests = routesAt(`${BASE}/certificate-requests`, {
  show: (request: Data) => ({
    ...request,
    actorKind: ofSample(request.actorKind, KIND_OF_REQUESTER) ?? request.actorKind,
  }),
});

const OF_ISSUER = [
  ...(['CERTIFICATE_PROFILE_NOT_FOUND', 'CERTIFICATE_AUTHORITY_PENDING'] as const),
  ...(['CERTIFICATE_AUTHORITY_DISABLED', 'CERTIFICATE_AUTHORITY_REVOKED', 'CERTIFICATE_AUTHORITY_EXPIRED'] as const),
] as const;

const ListQuery = z.strictObject({
  projectId: z.string().meta({ description: 'ID of the project.' }),
  state: requestState.optional().meta({ description: 'Only items in this state.' }),
  kind: requestKind.optional().meta({ description: 'Only items of this kind.' }),
  certificateId: z
    .string()
    .optional()
    .meta({ description: 'Only requests that renew this certificate or that issued it, by its ID.' }),
  ...boundedPaging,
});

/** Issue, renewal, lineages and requests, beyond the specification. */
export const issueRoutes: readonly Route[] = [
  certificates.post('/issue', 'Issue a certificate', {
    field: 'issueCertificate',
    body: bodyOf(IssueCertificate),
    errors: OF_ISSUER,
    example: {
      profileId: '0f9a3c1e-7a52-4a35-8d0f-2b8a1d1c9e44',
      subject: { commonName: 'shop.example.com' },
      sans: [{ kind: 'dns', value: 'shop.example.com' }],
      validDays: 90,
    },
  }),
  certificates.post('/{certificateId}/renew', 'Renew a certificate', {
    field: 'renewCertificate',
    body: bodyOf(RenewCertificate, 'id'),
    errors: [
      ...OF_ISSUER,
      ...(['CERTIFICATE_NOT_FOUND', 'CERTIFICATE_WITHOUT_PROFILE', 'CERTIFICATE_RENEWED'] as const),
      ...(['CERTIFICATE_REVOKED', 'CONCURRENT_CHANGE'] as const),
    ],
    example: { key: 'new' },
  }),
  lineages.get('/{lineageId}/current', 'Get the current certificate of a lineage', {
    field: 'currentCertificate',
    as: 'certificate',
    errors: ['CERTIFICATE_NOT_FOUND'],
  }),
  requests.get('', 'List certificate requests, newest first', {
    field: 'certificateRequests',
    query: ListQuery,
    errors: ['PROJECT_NOT_FOUND', 'CERTIFICATE_NOT_FOUND'],
  }),
  requests.get('/{requestId}', 'Get a certificate request', {
    field: 'certificateRequest',
    errors: ['CERTIFICATE_REQUEST_NOT_FOUND'],
  }),
];

const ca = routesAt('/api/v1/cert-manager/ca', { select: `${CERTIFICATE_FIELDS} pem chain` });

/** Certificates of authorities outside, beyond the specification. */
export const intermediateRoutes = [
  ca.post('/{authorityId}/sign-intermediate', 'Sign the certificate of an external intermediate authority', {
    field: 'signIntermediateCertificate',
    body: withoutNull(bodyOf(SignIntermediate, 'authorityId')),
    errors: [
      ...(['NOT_FOUND', 'PENDING', 'DISABLED', 'REVOKED', 'EXPIRED'] as const).map(
        (status) => `CERTIFICATE_AUTHORITY_${status}` as const,
      ),
    ],
    example: {
      request: '-----BEGIN CERTIFICATE REQUEST-----\n...\n-----END CERTIFICATE REQUEST-----\n',
      maxPathLength: 0,
    },
  }),
];
