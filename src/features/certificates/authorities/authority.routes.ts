import * as z from 'zod';
import { bodyOf, paging, routesAt, withoutNull } from '../../../rest/route.js';
import {
  ActivateAuthority,
  CreateAuthority,
  RenewAuthority,
  RevokeAuthority,
  SucceedAuthority,
  UpdateAuthority,
} from './authority.rules.js';

const ca = routesAt('/api/v1/cert-manager/ca', {
  select: `id projectId name kind status parentId predecessorId successorId *
    nameConstraints revokedAt revocationReason formerCertificates version createdAt updatedAt`,
});

const NOT_FOUND = ['CERTIFICATE_AUTHORITY_NOT_FOUND'] as const;
/** Of the authority that issues. */
const NOT_ISSUING = (['PENDING', 'DISABLED', 'REVOKED', 'EXPIRED'] as const).map(
  (status) => `CERTIFICATE_AUTHORITY_${status}` as const,
);

const ListQuery = z.strictObject({ projectId: z.string().meta({ description: 'ID of the project.' }), ...paging });

/** Certificate authorities, beyond the specification. */
export const authorityRoutes = [
  ca.post('', 'Create a certificate authority', {
    field: 'createCertificateAuthority',
    body: withoutNull(bodyOf(CreateAuthority)),
    errors: [...(['PROJECT_NOT_FOUND', 'CERTIFICATE_AUTHORITY_NAME_TAKEN', ...NOT_FOUND] as const), ...NOT_ISSUING],
    example: {
      projectId: '6f1c2a60-5a3e-4c52-9f43-6f4b8f0f2f11',
      name: 'Example root',
      kind: 'root',
      subject: { commonName: 'Example Root', organization: 'Example' },
      keyAlgorithm: 'ec-p384',
    },
  }),
  ca.get('', 'List the certificate authorities of a project, by name', {
    field: 'certificateAuthorities',
    query: ListQuery,
    errors: ['PROJECT_NOT_FOUND'],
  }),
  ca.get('/{caId}', 'Get a certificate authority', { field: 'certificateAuthority', errors: NOT_FOUND }),
  ca.patch('/{caId}', 'Update a certificate authority', {
    field: 'updateCertificateAuthority',
    body: withoutNull(bodyOf(UpdateAuthority, 'id', 'expectedVersion')),
    ifMatch: ({ certificateAuthority }) => ({ expectedVersion: certificateAuthority.version }),
    errors: [
      ...NOT_FOUND,
      ...([
        'CERTIFICATE_AUTHORITY_NAME_TAKEN',
        'CERTIFICATE_AUTHORITY_PENDING',
        'CERTIFICATE_AUTHORITY_REVOKED',
      ] as const),
      'CONCURRENT_CHANGE',
    ],
    example: { status: 'disabled' },
  }),
  ca.post('/{caId}/renew', 'Renew a certificate authority', {
    field: 'renewCertificateAuthority',
    body: withoutNull(bodyOf(RenewAuthority, 'id')),
    errors: [...NOT_FOUND, ...NOT_ISSUING, 'CONCURRENT_CHANGE'],
    example: { validDays: 1825 },
  }),
  ca.post('/{predecessorId}/successor', 'Create the successor of a certificate authority', {
    field: 'createCertificateAuthoritySuccessor',
    body: withoutNull(bodyOf(SucceedAuthority, 'predecessorId')),
    errors: [
      ...NOT_FOUND,
      ...NOT_ISSUING,
      ...(['CERTIFICATE_AUTHORITY_NAME_TAKEN', 'CERTIFICATE_AUTHORITY_HAS_SUCCESSOR'] as const),
    ],
    example: { name: 'Example root G2', subject: { commonName: 'Example Root G2', organization: 'Example' } },
  }),
  ca.post('/{caId}/import-certificate', 'Import the certificate of a certificate authority', {
    field: 'activateCertificateAuthority',
    body: withoutNull(bodyOf(ActivateAuthority, 'id')),
    errors: [...NOT_FOUND, 'CERTIFICATE_AUTHORITY_NOT_PENDING'],
    example: { certificate: '-----BEGIN CERTIFICATE-----\n...\n-----END CERTIFICATE-----\n' },
  }),
  ca.post('/{caId}/revoke', 'Revoke the certificate of an authority', {
    field: 'revokeCertificateAuthority',
    body: bodyOf(RevokeAuthority, 'id'),
    errors: [...NOT_FOUND, 'CERTIFICATE_AUTHORITY_NOT_ISSUED_HERE', 'CERTIFICATE_AUTHORITY_REVOKED'],
    example: { reason: 'keyCompromise' },
  }),
  ca.delete('/{caId}', 'Delete a certificate authority', {
    field: 'deleteCertificateAuthority',
    errors: [...NOT_FOUND, 'CERTIFICATE_AUTHORITY_IN_USE'],
  }),
];
