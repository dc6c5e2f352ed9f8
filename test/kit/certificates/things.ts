import { randomUUID } from 'node:crypto';
import { type Caller, mustSucceed } from '../caller.js';
import { signRequest } from './outside.js';
import { KNOWN_CERTIFICATE } from './own.js';

/** What a world has of certificates. */
export const CERTIFICATE_THINGS = [
  ...(['certificateProject', 'certificateAlert', 'certificateAuthority', 'pendingAuthority'] as const),
  'issuedAuthority',
  ...(['alertChannel', 'notificationChannel', 'authorityAnswer', 'certificate', 'certificateProfile'] as const),
  ...(['issuedCertificate', 'certificateRequest', 'unusedProfile'] as const),
] as const;
type CertificateWorld = Readonly<Record<(typeof CERTIFICATE_THINGS)[number], string>>;
/** Of a world that needs none. */
export const NO_CERTIFICATES = Object.fromEntries(
  CERTIFICATE_THINGS.map((thing) => [thing, '']),
) as unknown as CertificateWorld;

/** Makes a project with one certificate thing of every kind. @param canary a word that stands in texts of it */
export async function makeCertificates(admin: Caller, canary: string): Promise<CertificateWorld> {
  const project = { projectName: `certificates-${randomUUID().slice(0, 8)}`, type: 'cert-manager' };
  const { id: projectId } = mustSucceed(await admin.post('/api/v2/workspace', project)).body.project;
  const make = async (path: string, body: object) =>
    mustSucceed(
      await admin.post(`/api/v1/cert-manager/${path}`, {
        ...(path === 'certificates/issue' ? {} : { projectId }),
        ...body,
      }),
    ).body;
  const { alert } = await make('alerts', {
    name: `alert-${randomUUID().slice(0, 8)}`,
    description: canary,
    eventType: 'expiration',
    alertBefore: '30d',
    filters: [],
    channels: [{ channelType: 'email', config: { recipients: [`${canary}@example.com`] }, enabled: false }],
  });
  const { notificationChannel } = mustSucceed(
    await admin.post(`/api/v1/projects/${projectId}/notification-channels`, {
      name: `channel-${canary}`,
      config: { email: { recipients: [`${canary}@example.com`] } },
      enabled: false,
    }),
  ).body;
  const subject = { commonName: canary };
  const { certificateAuthority: root } = await make('ca', {
    name: `root-${randomUUID().slice(0, 8)}`,
    kind: 'root',
    subject,
  });
  const { certificateAuthority: issuing } = await make('ca', {
    name: `issuing-${randomUUID().slice(0, 8)}`,
    kind: 'root',
    subject,
  });
  const { certificateAuthority: issued } = await make('ca', {
    name: `issued-${randomUUID().slice(0, 8)}`,
    kind: 'intermediate',
    parentId: issuing.id,
    subject,
  });
  const { certificateAuthority: pending } = await make('ca', {
    name: `ca-${randomUUID().slice(0, 8)}`,
    kind: 'intermediate',
    subject,
  });
  const { pem, key } = KNOWN_CERTIFICATE;
  const { certificate } = await make('certificates/import', {
    certificate: pem + key,
    metadata: [{ key: 'owner', value: canary }],
  });
  const profile = { authorityId: issuing.id, description: canary, slug: `profile-${randomUUID().slice(0, 8)}` };
  const { certificateProfile } = await make('certificate-profiles', profile);
  const { certificateProfile: unused } = await make('certificate-profiles', { ...profile, slug: `${profile.slug}-b` });
  const own = await make('certificates/issue', { profileId: certificateProfile.id, subject });
  const requests = await admin.get(`/api/v1/cert-manager/certificate-requests?projectId=${projectId}`);
  return {
    certificateProfile: certificateProfile.id,
    unusedProfile: unused.id,
    issuedCertificate: own.certificate.id,
    certificateRequest: mustSucceed(requests).body.certificateRequests[0].id,
    certificateProject: projectId,
    certificateAlert: alert.id,
    alertChannel: alert.channels[0].id,
    notificationChannel: notificationChannel.id,
    certificateAuthority: root.id,
    pendingAuthority: pending.id,
    issuedAuthority: issued.id,
    authorityAnswer: (await signRequest(pending.request)).certificate,
    certificate: certificate.id,
  };
}
