import type { ErrorCode } from '../../../src/kernel/errors.js';
import { again, type ErrorCase, mutate, type Provoke, type Scene, send, unknown } from './scene.js';

const CA = '/api/v1/cert-manager/ca';
const CERTIFICATES = '/api/v1/cert-manager/certificates';
const PROFILES = '/api/v1/cert-manager/certificate-profiles';
const REQUESTS = '/api/v1/cert-manager/certificate-requests';

/** Both interfaces after the same preparation. */
const after = (prepare: (scene: Scene) => Promise<unknown>, { rest, graphql }: Record<'rest' | 'graphql', Provoke>) => {
  const prepared =
    (provoke: Provoke): Provoke =>
    async (scene) => {
      await prepare(scene);
      return provoke(scene);
    };
  return { rest: prepared(rest), graphql: prepared(graphql) };
};

const change =
  (statement: string) =>
  ({ strongroom, world }: Scene) =>
    strongroom.sql(statement, [statement.includes('authority') ? world.certificateAuthority : world.certificate]);

/** A new authority below that of the world, or another one. */
const createBelow: Record<'rest' | 'graphql', Provoke> = {
  rest: send(`POST ${CA}`),
  graphql: send('createCertificateAuthority'),
};

/** The profile by which something was issued. */
const inUse = ({ certificateProfile }: Scene['world']) => ({ unusedProfile: certificateProfile });
const OTHER_SUCCESSOR = { name: 'Another', subject: { commonName: 'Another' } };

/** Of what is not there. */
export const CERTIFICATES_NOT_THERE: Partial<Record<ErrorCode, ErrorCase>> = {
  CERTIFICATE_AUTHORITY_NOT_FOUND: unknown('certificateAuthority', `GET ${CA}/{caId}`, 'certificateAuthority'),
  CERTIFICATE_PROFILE_NOT_FOUND: unknown('certificateProfile', `GET ${PROFILES}/{profileId}`, 'certificateProfile'),
  CERTIFICATE_REQUEST_NOT_FOUND: unknown('certificateRequest', `GET ${REQUESTS}/{requestId}`, 'certificateRequest'),
  CERTIFICATE_NOT_FOUND: unknown('certificate', `GET ${CERTIFICATES}/{certificateId}`, 'certificate'),
};

/** Of what clashes with what is there. */
export const CERTIFICATE_CLASHES: Partial<Record<ErrorCode, ErrorCase>> = {
  CERTIFICATE_KEY_NOT_FOUND: after(change('update certificate set key_sealed = null where id = $1'), {
    rest: send(`GET ${CERTIFICATES}/{certificateId}/private-key`),
    graphql: send('certificatePrivateKey'),
  }),
  CERTIFICATE_EXISTS: { rest: again(`POST ${CERTIFICATES}/import`), graphql: again('importCertificate') },
  CERTIFICATE_REVOKED: {
    rest: again(`POST ${CERTIFICATES}/{certificateId}/revoke`),
    graphql: again('revokeCertificate'),
  },
  CERTIFICATE_PROFILE_SLUG_TAKEN: { rest: again(`POST ${PROFILES}`), graphql: again('createCertificateProfile') },
  CERTIFICATE_PROFILE_IN_USE: {
    rest: send(`DELETE ${PROFILES}/{profileId}`, inUse),
    graphql: send('deleteCertificateProfile', inUse),
  },
  CERTIFICATE_RENEWED: {
    rest: again(`POST ${CERTIFICATES}/{certificateId}/renew`),
    graphql: again('renewCertificate'),
  },
  CERTIFICATE_WITHOUT_PROFILE: {
    rest: ({ admin, world }) => admin.post(`${CERTIFICATES}/${world.certificate}/renew`, {}),
    graphql: ({ admin, world }) => mutate(admin, 'renewCertificate', { id: world.certificate }),
  },
  CERTIFICATE_AUTHORITY_NAME_TAKEN: { rest: again(`POST ${CA}`), graphql: again('createCertificateAuthority') },
  CERTIFICATE_AUTHORITY_PENDING: {
    rest: ({ admin, world }) => admin.patch(`${CA}/${world.pendingAuthority}`, { status: 'active' }),
    graphql: send('createCertificateAuthority', ({ pendingAuthority }) => ({ certificateAuthority: pendingAuthority })),
  },
  CERTIFICATE_AUTHORITY_NOT_PENDING: {
    rest: again(`POST ${CA}/{caId}/import-certificate`),
    graphql: again('activateCertificateAuthority'),
  },
  CERTIFICATE_AUTHORITY_DISABLED: after(send(`PATCH ${CA}/{caId}`), createBelow),
  CERTIFICATE_AUTHORITY_HAS_SUCCESSOR: after(
    ({ admin, world }) => admin.post(`${CA}/${world.certificateAuthority}/successor`, OTHER_SUCCESSOR),
    { rest: send(`POST ${CA}/{predecessorId}/successor`), graphql: send('createCertificateAuthoritySuccessor') },
  ),
  CERTIFICATE_AUTHORITY_REVOKED: {
    rest: again(`POST ${CA}/{caId}/revoke`),
    graphql: again('revokeCertificateAuthority'),
  },
  CERTIFICATE_AUTHORITY_NOT_ISSUED_HERE: {
    rest: send(`POST ${CA}/{caId}/revoke`, ({ certificateAuthority }) => ({ issuedAuthority: certificateAuthority })),
    graphql: send('revokeCertificateAuthority', ({ certificateAuthority }) => ({
      issuedAuthority: certificateAuthority,
    })),
  },
  CERTIFICATE_AUTHORITY_EXPIRED: after(
    change('update certificate_authority set not_after = now() where id = $1'),
    createBelow,
  ),
  CERTIFICATE_AUTHORITY_IN_USE: after(createBelow.rest, {
    rest: send(`DELETE ${CA}/{caId}`),
    graphql: send('deleteCertificateAuthority'),
  }),
};
