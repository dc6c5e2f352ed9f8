import { bodyOf, routesAt, withoutNull } from '../../../rest/route.js';
import { CERTIFICATE_FIELDS } from '../certificates/certificate.routes.js';
import { SignIntermediate } from './intermediate.rules.js';

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
