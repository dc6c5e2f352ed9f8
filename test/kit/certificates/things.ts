import { randomUUID } from 'node:crypto';
import { type Caller, mustSucceed } from '../caller.js';
import { signRequest } from './outside.js';
import { KNOWN_CERTIFICATE } from './own.js';

/** What a world has of certificates. */
const CERTIFICATE_THINGS = [
  ...(['certificateProject', 'certificateAlert', 'certificateAuthority', 'pendingAuthority'] as const),
  'issuedAuthority',
  ...(['alertChannel', 'notificationChannel', 'authorityAnswer', 'certificate', 'certificateProfile'] as const),
  ...(['issuedCertificate', 'certificateRequest', 'unusedProfile'] as const),
] as const;
type CertificateWorld = Readonly<Record<(typeof CERTIFICATE_THINGS)[number], string>>;
/** Of a world that needs none. */
const NO_CERTIFICATES = Object.fromEntries(
  CERTIFICATE_THINGS.map((thing) => [thing, '']),
) as unknown as CertificateWorld;

type CertificateThing = (typeof CERTIFICATE_THINGS)[number];

interface Wanted {
  /** A word that stands in texts of them. */
  readonly canary: string;
  isWanted(...things: (CertificateThing | 'alertMessage' | 'notificationMessage')[]): boolean;
}

const word = (prefix: string): string => `${prefix}-${randomUUID().slice(0, 8)}`;

/** Makes a project with one certificate thing of every kind, as far as they are wanted. */
export async function makeCertificates(admin: Caller, { canary, isWanted }: Wanted): Promise<CertificateWorld> {
  if (!isWanted(...CERTIFICATE_THINGS, 'alertMessage', 'notificationMessage')) return NO_CERTIFICATES;
  const project = { projectName: word('certificates'), type: 'cert-manager' };
  const { id: projectId } = mustSucceed(await admin.post('/api/v2/workspace', project)).body.project;
  const maker = new Maker(admin, projectId, canary);
  return {
    ...NO_CERTIFICATES,
    certificateProject: projectId,
    ...(isWanted('certificateAlert', 'alertChannel', 'alertMessage') && (await maker.alert())),
    ...(isWanted('notificationChannel', 'notificationMessage') && (await maker.channel())),
    ...(isWanted('certificateAuthority') && { certificateAuthority: (await maker.authority('root')).id }),
    ...(isWanted('pendingAuthority', 'authorityAnswer') && (await maker.pending())),
    ...(isWanted('certificate') && (await maker.imported())),
    ...(isWanted(...ISSUED) && (await maker.issued())),
  };
}

/** What one authority and its profiles stand behind. */
const ISSUED = [
  ...(['issuedAuthority', 'certificateProfile', 'unusedProfile', 'issuedCertificate', 'certificateRequest'] as const),
] as const;

/** Makes things in a project of certificates. */
class Maker {
  readonly #admin: Caller;
  readonly #projectId: string;
  readonly #canary: string;

  constructor(admin: Caller, projectId: string, canary: string) {
    [this.#admin, this.#projectId, this.#canary] = [admin, projectId, canary];
  }

  async alert(): Promise<Pick<CertificateWorld, 'certificateAlert' | 'alertChannel'>> {
    const { alert } = await this.#make('alerts', {
      name: word('alert'),
      description: this.#canary,
      eventType: 'expiration',
      alertBefore: '30d',
      filters: [],
      channels: [{ channelType: 'email', config: { recipients: [`${this.#canary}@example.com`] }, enabled: false }],
    });
    return { certificateAlert: alert.id, alertChannel: alert.channels[0].id };
  }

  async channel(): Promise<Pick<CertificateWorld, 'notificationChannel'>> {
    const config = { email: { recipients: [`${this.#canary}@example.com`] } };
    const body = { name: `channel-${this.#canary}`, config, enabled: false };
    const path = `/api/v1/projects/${this.#projectId}/notification-channels`;
    return { notificationChannel: mustSucceed(await this.#admin.post(path, body)).body.notificationChannel.id };
  }

  async authority(
    kind: 'root' | 'intermediate',
    more: object = {},
  ): Promise<{ readonly id: string; readonly request: string }> {
    const body = { name: word('authority'), kind, subject: { commonName: this.#canary }, ...more };
    return (await this.#make('ca', body)).certificateAuthority;
  }

  async pending(): Promise<Pick<CertificateWorld, 'pendingAuthority' | 'authorityAnswer'>> {
    const { id, request } = await this.authority('intermediate');
    return { pendingAuthority: id, authorityAnswer: (await signRequest(request)).certificate };
  }

  async imported(): Promise<Pick<CertificateWorld, 'certificate'>> {
    const { pem, key } = KNOWN_CERTIFICATE;
    const metadata = [{ key: 'owner', value: this.#canary }];
    const { certificate } = await this.#make('certificates/import', { certificate: pem + key, metadata });
    return { certificate: certificate.id };
  }

  async issued(): Promise<Pick<CertificateWorld, (typeof ISSUED)[number]>> {
    const issuing = await this.authority('root');
    const issued = await this.authority('intermediate', { parentId: issuing.id });
    const profile = { authorityId: issuing.id, description: this.#canary, slug: word('profile') };
    const used = (await this.#make('certificate-profiles', profile)).certificateProfile;
    const unused = await this.#make('certificate-profiles', { ...profile, slug: `${profile.slug}-b` });
    const order = { profileId: used.id, subject: { commonName: this.#canary } };
    const { certificate } = await this.#make('certificates/issue', order);
    const requests = await this.#admin.get(`/api/v1/cert-manager/certificate-requests?projectId=${this.#projectId}`);
    return {
      issuedAuthority: issued.id,
      certificateProfile: used.id,
      unusedProfile: unused.certificateProfile.id,
      issuedCertificate: certificate.id,
      certificateRequest: mustSucceed(requests).body.certificateRequests[0].id,
    };
  }

  /** The order of a certificate names its project by its profile. */
  async #make(path: string, body: object) {
    const place = path === 'certificates/issue' ? {} : { projectId: this.#projectId };
    return mustSucceed(await this.#admin.post(`/api/v1/cert-manager/${path}`, { ...place, ...body })).body;
  }
}
