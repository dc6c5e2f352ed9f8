import { NEW_CERTIFICATE, NEW_PKCS12, NEW_REQUEST, OUTSIDE_REQUEST, PKCS12_PASSWORD } from '../../certificates/own.js';
import { CANARY } from '../../world.js';
import { type GraphQLOperation, viewer } from '../operation.js';

const metadata = [{ key: 'team', value: CANARY }];
const authority = { id: '$certificateAuthority' };
const certificate = { id: '$certificate' };
const profile = { id: '$certificateProfile' };

/** Certificate authorities, and the inventory of certificates. */
export const certificates: readonly GraphQLOperation[] = [
  {
    field: 'certificateAuthorities',
    args: { projectId: '$certificateProject' },
    audit: 'certificate-authority:list',
    denial: viewer('certificate-authorities:read'),
  },
  {
    field: 'certificateAuthority',
    args: authority,
    audit: 'certificate-authority:get',
    denial: viewer('certificate-authorities:read'),
  },
  {
    field: 'createCertificateAuthority',
    args: {
      projectId: '$certificateProject',
      name: 'Below',
      kind: 'INTERMEDIATE',
      parentId: '$certificateAuthority',
      subject: { commonName: CANARY },
    },
    audit: 'certificate-authority:create',
    denial: viewer('certificate-authorities:create'),
  },
  {
    field: 'activateCertificateAuthority',
    args: { id: '$pendingAuthority', certificate: '$authorityAnswer' },
    audit: 'certificate-authority:activate',
    denial: viewer('certificate-authorities:edit'),
  },
  {
    field: 'updateCertificateAuthority',
    args: { ...authority, name: CANARY, status: 'DISABLED' },
    audit: 'certificate-authority:update',
    denial: viewer('certificate-authorities:edit'),
  },
  {
    field: 'renewCertificateAuthority',
    args: { ...authority, validDays: 100 },
    audit: 'certificate-authority:renew',
    denial: viewer('certificate-authorities:edit'),
  },
  {
    field: 'createCertificateAuthoritySuccessor',
    args: { predecessorId: '$certificateAuthority', name: 'Next', subject: { commonName: CANARY } },
    audit: 'certificate-authority:create',
    denial: viewer('certificate-authorities:edit'),
  },
  {
    field: 'signIntermediateCertificate',
    args: { authorityId: '$certificateAuthority', request: OUTSIDE_REQUEST, metadata },
    audit: 'certificate-authority:sign-intermediate',
    denial: viewer('certificate-authorities:create'),
  },
  {
    field: 'revokeCertificateAuthority',
    args: { id: '$issuedAuthority', reason: 'SUPERSEDED' },
    audit: 'certificate-authority:revoke',
    denial: viewer('certificate-authorities:edit'),
  },
  {
    field: 'deleteCertificateAuthority',
    args: authority,
    audit: 'certificate-authority:delete',
    denial: viewer('certificate-authorities:delete'),
  },
  {
    field: 'certificates',
    args: { projectId: '$certificateProject', authorityId: '$certificateAuthority' },
    audit: 'certificate:list',
    denial: viewer('certificates:read'),
  },
  { field: 'certificate', args: certificate, audit: 'certificate:get', denial: viewer('certificates:read') },
  {
    field: 'certificatePrivateKey',
    args: certificate,
    audit: 'certificate:read-private-key',
    denial: viewer('certificates:read-private-key'),
  },
  {
    field: 'importCertificate',
    args: {
      projectId: '$certificateProject',
      certificate: NEW_CERTIFICATE.pem,
      privateKey: NEW_CERTIFICATE.key,
      metadata,
    },
    audit: 'certificate:import',
    denial: viewer('certificates:create'),
  },
  {
    field: 'certificatePkcs12',
    args: { ...certificate, password: `${CANARY} horse battery` },
    audit: 'certificate:export-pkcs12',
    denial: viewer('certificates:read-private-key'),
  },
  {
    field: 'importCertificatePkcs12',
    args: { projectId: '$certificateProject', pkcs12: NEW_PKCS12, password: PKCS12_PASSWORD, metadata },
    audit: 'certificate:import',
    denial: viewer('certificates:create'),
  },
  {
    field: 'updateCertificate',
    args: { ...certificate, metadata },
    audit: 'certificate:update',
    denial: viewer('certificates:edit'),
  },
  {
    field: 'revokeCertificate',
    args: { ...certificate, reason: 'SUPERSEDED' },
    audit: 'certificate:revoke',
    denial: viewer('certificates:edit'),
  },
  { field: 'deleteCertificate', args: certificate, audit: 'certificate:delete', denial: viewer('certificates:delete') },
  {
    field: 'certificateProfiles',
    args: { projectId: '$certificateProject' },
    audit: 'certificate-profile:list',
    denial: viewer('certificate-profiles:read'),
  },
  {
    field: 'certificateProfile',
    args: profile,
    audit: 'certificate-profile:get',
    denial: viewer('certificate-profiles:read'),
  },
  {
    field: 'createCertificateProfile',
    args: { projectId: '$certificateProject', slug: 'new', authorityId: '$certificateAuthority', description: CANARY },
    audit: 'certificate-profile:create',
    denial: viewer('certificate-profiles:create'),
  },
  {
    field: 'updateCertificateProfile',
    args: { ...profile, description: `${CANARY}.`, authorityId: '$certificateAuthority' },
    audit: 'certificate-profile:update',
    denial: viewer('certificate-profiles:edit'),
  },
  {
    field: 'deleteCertificateProfile',
    args: { id: '$unusedProfile' },
    audit: 'certificate-profile:delete',
    denial: viewer('certificate-profiles:delete'),
  },
  {
    field: 'issueCertificate',
    args: { profileId: '$certificateProfile', csr: NEW_REQUEST, metadata },
    audit: 'certificate:issue',
    denial: viewer('certificate-profiles:issue-cert'),
  },
  {
    field: 'renewCertificate',
    args: { id: '$issuedCertificate', profileId: '$certificateProfile' },
    audit: 'certificate:renew',
    denial: viewer('certificates:create'),
  },
  {
    field: 'currentCertificate',
    args: { lineageId: '$issuedCertificate' },
    audit: 'certificate:get',
    denial: viewer('certificates:read'),
  },
  {
    field: 'certificateRequests',
    args: { projectId: '$certificateProject', certificateId: '$issuedCertificate' },
    audit: 'certificate-request:list',
    denial: viewer('certificates:read'),
  },
  {
    field: 'certificateRequest',
    args: { id: '$certificateRequest' },
    audit: 'certificate-request:get',
    denial: viewer('certificates:read'),
  },
  {
    field: 'certificateCleaning',
    args: { projectId: '$certificateProject' },
    audit: 'certificate-cleaning:get',
    denial: viewer('certificates:read'),
  },
  {
    field: 'updateCertificateCleaning',
    args: { projectId: '$certificateProject', daysAfterExpiry: 90 },
    audit: 'certificate-cleaning:update',
    denial: viewer('certificates:delete'),
  },
];
