import { NEW_CERTIFICATE, NEW_PKCS12, NEW_REQUEST, OUTSIDE_REQUEST, PKCS12_PASSWORD } from '../../certificates/own.js';
import { CANARY } from '../../world.js';
import { type RestOperation, viewer } from '../operation.js';

const CA = '/api/v1/cert-manager/ca';
const CERTIFICATES = '/api/v1/cert-manager/certificates';
const PROFILES = '/api/v1/cert-manager/certificate-profiles';
const REQUESTS = '/api/v1/cert-manager/certificate-requests';
const query = { projectId: '$certificateProject' };
const authority = { caId: '$certificateAuthority' };
const certificate = { certificateId: '$certificate' };
const profile = { profileId: '$certificateProfile' };
const metadata = [{ key: 'team', value: CANARY }];

/** Certificate authorities, and the inventory of certificates. */
export const certificates: readonly RestOperation[] = [
  {
    route: `POST ${CA}`,
    body: {
      projectId: '$certificateProject',
      name: 'Below',
      kind: 'intermediate',
      parentId: '$certificateAuthority',
      subject: { commonName: CANARY },
    },
    audit: 'certificate-authority:create',
    denial: viewer('certificate-authorities:create'),
  },
  {
    route: `GET ${CA}`,
    query,
    audit: 'certificate-authority:list',
    denial: viewer('certificate-authorities:read'),
  },
  {
    route: `GET ${CA}/{caId}`,
    path: authority,
    audit: 'certificate-authority:get',
    denial: viewer('certificate-authorities:read'),
  },
  {
    route: `PATCH ${CA}/{caId}`,
    path: authority,
    body: { name: CANARY, status: 'disabled' },
    audit: 'certificate-authority:update',
    denial: viewer('certificate-authorities:edit'),
  },
  {
    route: `POST ${CA}/{caId}/import-certificate`,
    path: { caId: '$pendingAuthority' },
    body: { certificate: '$authorityAnswer' },
    audit: 'certificate-authority:activate',
    denial: viewer('certificate-authorities:edit'),
  },
  {
    route: `POST ${CA}/{caId}/renew`,
    path: authority,
    body: { validDays: 100 },
    audit: 'certificate-authority:renew',
    denial: viewer('certificate-authorities:edit'),
  },
  {
    route: `POST ${CA}/{predecessorId}/successor`,
    path: { predecessorId: '$certificateAuthority' },
    body: { name: 'Next', subject: { commonName: CANARY } },
    audit: 'certificate-authority:create',
    denial: viewer('certificate-authorities:edit'),
  },
  {
    route: `POST ${CA}/{authorityId}/sign-intermediate`,
    path: { authorityId: '$certificateAuthority' },
    body: { request: OUTSIDE_REQUEST, metadata },
    audit: 'certificate-authority:sign-intermediate',
    denial: viewer('certificate-authorities:create'),
  },
  {
    route: `POST ${CA}/{caId}/revoke`,
    path: { caId: '$issuedAuthority' },
    body: { reason: 'superseded' },
    audit: 'certificate-authority:revoke',
    denial: viewer('certificate-authorities:edit'),
  },
  {
    route: `DELETE ${CA}/{caId}`,
    path: authority,
    audit: 'certificate-authority:delete',
    denial: viewer('certificate-authorities:delete'),
  },
  {
    route: `POST ${CERTIFICATES}/import`,
    body: {
      projectId: '$certificateProject',
      certificate: NEW_CERTIFICATE.pem,
      privateKey: NEW_CERTIFICATE.key,
      metadata,
    },
    audit: 'certificate:import',
    denial: viewer('certificates:create'),
  },
  {
    route: `GET ${CERTIFICATES}`,
    query: { ...query, authorityId: '$certificateAuthority' },
    audit: 'certificate:list',
    denial: viewer('certificates:read'),
  },
  {
    route: `GET ${CERTIFICATES}/{certificateId}`,
    path: certificate,
    audit: 'certificate:get',
    denial: viewer('certificates:read'),
  },
  {
    route: `GET ${CERTIFICATES}/{certificateId}/pem`,
    path: certificate,
    audit: 'certificate:get',
    denial: viewer('certificates:read'),
  },
  {
    route: `GET ${CERTIFICATES}/{certificateId}/private-key`,
    path: certificate,
    audit: 'certificate:read-private-key',
    denial: viewer('certificates:read-private-key'),
  },
  {
    route: `GET ${CERTIFICATES}/{certificateId}/bundle`,
    path: certificate,
    audit: 'certificate:read-private-key',
    denial: viewer('certificates:read-private-key'),
  },
  {
    route: `POST ${CERTIFICATES}/{certificateId}/pkcs12`,
    path: certificate,
    body: { password: `${CANARY} horse battery` },
    audit: 'certificate:export-pkcs12',
    denial: viewer('certificates:read-private-key'),
  },
  {
    route: `POST ${CERTIFICATES}/import-pkcs12`,
    body: { projectId: '$certificateProject', pkcs12: NEW_PKCS12, password: PKCS12_PASSWORD, metadata },
    audit: 'certificate:import',
    denial: viewer('certificates:create'),
  },
  {
    route: `PATCH ${CERTIFICATES}/{certificateId}`,
    path: certificate,
    body: { metadata },
    audit: 'certificate:update',
    denial: viewer('certificates:edit'),
  },
  {
    route: `POST ${CERTIFICATES}/{certificateId}/revoke`,
    path: certificate,
    body: { reason: 'superseded' },
    audit: 'certificate:revoke',
    denial: viewer('certificates:edit'),
  },
  {
    route: `DELETE ${CERTIFICATES}/{certificateId}`,
    path: certificate,
    audit: 'certificate:delete',
    denial: viewer('certificates:delete'),
  },
  {
    route: `GET ${PROFILES}`,
    query,
    audit: 'certificate-profile:list',
    denial: viewer('certificate-profiles:read'),
  },
  {
    route: `GET ${PROFILES}/{profileId}`,
    path: profile,
    audit: 'certificate-profile:get',
    denial: viewer('certificate-profiles:read'),
  },
  {
    route: `POST ${PROFILES}`,
    body: { projectId: '$certificateProject', slug: 'new', authorityId: '$certificateAuthority', description: CANARY },
    audit: 'certificate-profile:create',
    denial: viewer('certificate-profiles:create'),
  },
  {
    route: `PATCH ${PROFILES}/{profileId}`,
    path: profile,
    body: { description: `${CANARY}.`, authorityId: '$certificateAuthority' },
    audit: 'certificate-profile:update',
    denial: viewer('certificate-profiles:edit'),
  },
  {
    route: `DELETE ${PROFILES}/{profileId}`,
    path: { profileId: '$unusedProfile' },
    audit: 'certificate-profile:delete',
    denial: viewer('certificate-profiles:delete'),
  },
  {
    route: `POST ${CERTIFICATES}/issue`,
    body: { profileId: '$certificateProfile', csr: NEW_REQUEST, metadata: [{ key: 'team', value: CANARY }] },
    audit: 'certificate:issue',
    denial: viewer('certificate-profiles:issue-cert'),
  },
  {
    route: `POST ${CERTIFICATES}/{certificateId}/renew`,
    path: { certificateId: '$issuedCertificate' },
    body: { profileId: '$certificateProfile' },
    audit: 'certificate:renew',
    denial: viewer('certificates:create'),
  },
  {
    route: 'GET /api/v1/cert-manager/certificate-lineages/{lineageId}/current',
    path: { lineageId: '$issuedCertificate' },
    audit: 'certificate:get',
    denial: viewer('certificates:read'),
  },
  {
    route: `GET ${REQUESTS}`,
    query: { ...query, certificateId: '$issuedCertificate' },
    audit: 'certificate-request:list',
    denial: viewer('certificates:read'),
  },
  {
    route: `GET ${REQUESTS}/{requestId}`,
    path: { requestId: '$certificateRequest' },
    audit: 'certificate-request:get',
    denial: viewer('certificates:read'),
  },
  {
    route: 'GET /api/v1/cert-manager/certificate-cleaning/{projectId}',
    path: query,
    audit: 'certificate-cleaning:get',
    denial: viewer('certificates:read'),
  },
  {
    route: 'PATCH /api/v1/cert-manager/certificate-cleaning/{projectId}',
    path: query,
    body: { daysAfterExpiry: 90 },
    audit: 'certificate-cleaning:update',
    denial: viewer('certificates:delete'),
  },
];
