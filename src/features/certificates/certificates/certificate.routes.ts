import * as z from 'zod';
import { bodyOf, paging, routesAt, timeText, withoutNull } from '../../../rest/route.js';
import { certificateStatus, ImportCertificate, RevokeCertificate, UpdateCertificate } from './certificate.rules.js';

/** What is shown of a certificate. */
export const CERTIFICATE_FIELDS = '* renewalFailure metadata version createdAt updatedAt';

/** Routes of certificates, which reply with the fields of one. */
export const certificates = routesAt('/api/v1/cert-manager/certificates', { select: CERTIFICATE_FIELDS });

const NOT_FOUND = ['CERTIFICATE_NOT_FOUND'] as const;

const ListQuery = z.strictObject({
  projectId: z.string().meta({ description: 'ID of the project.' }),
  search: z.string().max(255).optional().meta({
    description: 'Only certificates with this string in a name, ignoring case, or with this serial number.',
  }),
  status: certificateStatus.optional().meta({ description: 'Only active items, or only revoked ones.' }),
  expiresBefore: timeText('Only those that expire before this time.'),
  expiresAfter: timeText('Only those that expire at this time or later.'),
  authorityId: z.string().optional().meta({ description: 'Only items of this certificate authority, by its ID.' }),
  profileSlug: z
    .string()
    .max(64)
    .optional()
    .meta({ description: 'Only certificates issued by the profile with this slug.' }),
  metadata: z
    .string()
    .regex(/^[^=]{1,255}=/, 'must be key=value')
    .transform((text) => [{ key: text.slice(0, text.indexOf('=')), value: text.slice(text.indexOf('=') + 1) }])
    .optional()
    .meta({ description: 'Only items with this metadata entry, for example `team=payments`.' }),
  ...paging,
});

/** The inventory of certificates, beyond the specification. */
export const certificateRoutes = [
  certificates.post('/import', 'Import a certificate', {
    field: 'importCertificate',
    body: withoutNull(ImportCertificate),
    errors: [
      'PROJECT_NOT_FOUND',
      'CERTIFICATE_EXISTS',
      'CERTIFICATE_AUTHORITY_NOT_FOUND',
      'CERTIFICATE_NOT_FOUND',
      'CERTIFICATE_RENEWED',
    ],
    example: {
      projectId: '6f1c2a60-5a3e-4c52-9f43-6f4b8f0f2f11',
      certificate: '-----BEGIN CERTIFICATE-----\n...\n-----END CERTIFICATE-----\n',
      privateKey: '-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----\n',
      metadata: [{ key: 'team', value: 'shop' }],
    },
  }),
  certificates.get('', 'List the certificates of a project, the next one to expire first', {
    field: 'certificates',
    query: ListQuery,
    errors: ['PROJECT_NOT_FOUND', 'CERTIFICATE_AUTHORITY_NOT_FOUND'],
  }),
  certificates.get('/{certificateId}', 'Get a certificate', { field: 'certificate', errors: NOT_FOUND }),
  certificates.get('/{certificateId}/pem', 'Download a certificate and its chain', {
    operationId: 'downloadCertificatePem',
    field: 'certificate',
    select: 'serialNumber certificate: pem certificateChain: chain',
    reply: ({ certificate }) => certificate,
    errors: NOT_FOUND,
  }),
  certificates.get('/{certificateId}/private-key', 'Read the private key of a certificate', {
    field: 'certificatePrivateKey',
    select: 'certificate { id } privateKey',
    reply: ({ certificatePrivateKey: { certificate, privateKey } }) => ({
      certificateId: certificate.id,
      privateKey,
    }),
    sensitive: true,
    errors: [...NOT_FOUND, 'CERTIFICATE_KEY_NOT_FOUND'],
  }),
  certificates.patch('/{certificateId}', 'Update a certificate', {
    field: 'updateCertificate',
    body: bodyOf(UpdateCertificate, 'id', 'expectedVersion'),
    ifMatch: ({ certificate }) => ({ expectedVersion: certificate.version }),
    errors: [...NOT_FOUND, 'CONCURRENT_CHANGE'],
    example: { metadata: [{ key: 'team', value: 'shop' }] },
  }),
  certificates.post('/{certificateId}/revoke', 'Revoke a certificate', {
    field: 'revokeCertificate',
    body: bodyOf(RevokeCertificate, 'id'),
    errors: [...NOT_FOUND, 'CERTIFICATE_REVOKED'],
    example: { reason: 'keyCompromise' },
  }),
  certificates.delete('/{certificateId}', 'Delete a certificate', { field: 'deleteCertificate', errors: NOT_FOUND }),
];
