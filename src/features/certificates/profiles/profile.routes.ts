import * as z from 'zod';
import { bodyOf, paging, routesAt } from '../../../rest/route.js';
import { CreateProfile, UpdateProfile } from './profile.rules.js';

const policy = 'allowed required denied';
const profiles = routesAt('/api/v1/cert-manager/certificate-profiles', {
  select: `id projectId slug description authorityId subject { attribute ${policy} } sans { kind ${policy} } keyAlgorithms
    keyUsages { ${policy} } extendedKeyUsages { ${policy} } ca maxPathLength maxDays defaults {
      subject { organization organizationalUnit locality province country } keyAlgorithm keyUsages extendedKeyUsages validDays }
    renewBeforeDays version createdAt updatedAt`,
});

const NOT_FOUND = ['CERTIFICATE_PROFILE_NOT_FOUND'] as const;
const ListQuery = z.strictObject({ projectId: z.string().meta({ description: 'ID of the project.' }), ...paging });

/** Certificate profiles, beyond the specification. */
export const profileRoutes = [
  profiles.post('', 'Create a certificate profile', {
    field: 'createCertificateProfile',
    body: CreateProfile,
    errors: ['PROJECT_NOT_FOUND', 'CERTIFICATE_AUTHORITY_NOT_FOUND', 'CERTIFICATE_PROFILE_SLUG_TAKEN'],
    example: {
      projectId: '6f1c2a60-5a3e-4c52-9f43-6f4b8f0f2f11',
      slug: 'web-server',
      authorityId: '0f9a3c1e-7a52-4a35-8d0f-2b8a1d1c9e44',
      sans: [{ kind: 'dns', allowed: ['*.example.com'] }],
      extendedKeyUsages: { allowed: ['serverAuth'], required: ['serverAuth'] },
      maxDays: 90,
      renewBeforeDays: 30,
    },
  }),
  profiles.get('', 'List the certificate profiles of a project, by slug', {
    field: 'certificateProfiles',
    query: ListQuery,
    errors: ['PROJECT_NOT_FOUND'],
  }),
  profiles.get('/{profileId}', 'Get a certificate profile', { field: 'certificateProfile', errors: NOT_FOUND }),
  profiles.patch('/{profileId}', 'Update a certificate profile', {
    field: 'updateCertificateProfile',
    body: bodyOf(UpdateProfile, 'id', 'expectedVersion'),
    ifMatch: ({ certificateProfile }) => ({ expectedVersion: certificateProfile.version }),
    errors: [...NOT_FOUND, 'CERTIFICATE_AUTHORITY_NOT_FOUND', 'CONCURRENT_CHANGE'],
    example: { maxDays: 30, renewBeforeDays: 10 },
  }),
  profiles.delete('/{profileId}', 'Delete a certificate profile', {
    field: 'deleteCertificateProfile',
    errors: [...NOT_FOUND, 'CERTIFICATE_PROFILE_IN_USE'],
  }),
];
