import type { Group } from '../../rest/openapi/groups.js';

/** Groups of the API reference. */
export const GROUPS: readonly Group[] = [
  {
    name: 'certificate-authorities',
    permission: { subject: 'certificate-authorities', nouns: /^(CertificateAuthorit(y|ies))$/ },
    title: 'Certificate authorities',
    description: 'Who issues the certificates of a project.',
    paths: /^\/api\/v1\/cert-manager\/ca\b/,
    parameters: {
      caId: 'The certificate authority.',
      authorityId: 'The certificate authority that signs.',
      predecessorId: 'The certificate authority that is followed.',
    },
  },
  {
    name: 'certificates',
    permission: { subject: 'certificates', nouns: /^(Certificates?|CertificateRequests?)$/ },
    title: 'Certificates',
    description: 'The inventory of certificates of a project.',
    paths: /^\/api\/v1\/cert-manager\/(certificates|certificate-cleaning|certificate-lineages|certificate-requests)\b/,
    parameters: {
      certificateId: 'The certificate.',
      projectId: 'The project.',
      lineageId: 'The lineage, as certificates have it.',
      requestId: 'The request for a certificate.',
    },
  },
  {
    name: 'certificate-profiles',
    permission: { subject: 'certificate-profiles', nouns: /^(CertificateProfiles?)$/ },
    title: 'Certificate profiles',
    description: 'What the certificates of a project may be.',
    paths: /^\/api\/v1\/cert-manager\/certificate-profiles\b/,
    parameters: { profileId: 'The certificate profile.' },
  },
];
