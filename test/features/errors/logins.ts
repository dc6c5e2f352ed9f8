import { mintClientSecret } from '../../../src/kernel/crypto/token.js';
import type { ErrorCode } from '../../../src/kernel/errors.js';
import { mustSucceed, type Reply } from '../../kit/caller.js';
import { again, type ErrorCase, type Scene, send, unknown } from './scene.js';

const UNIVERSAL_AUTH = '/api/v1/auth/universal-auth/identities/{identityId}';
const OIDC_AUTH = '/api/v1/auth/oidc-auth/identities/{identityId}';
const KUBERNETES_AUTH = '/api/v1/auth/kubernetes-auth/identities/{identityId}';
const LOGIN = 'POST /api/v1/auth/universal-auth/login';

interface Client {
  readonly clientId: string;
  readonly heldClientSecret: string;
}

/** A client secret of a new identity, and what it is to be refused for. */
interface Unfit {
  readonly auth?: object;
  readonly secret?: object;
  readonly spoil?: (scene: Scene, at: { path: string; clientSecretId: string; client: Client }) => Promise<unknown>;
}

async function makeClient(scene: Scene, { auth = {}, secret = {}, spoil }: Unfit): Promise<Client> {
  const { admin } = scene;
  const { identityId } = await scene.strongroom.seed.caller(admin);
  const path = `/api/v1/auth/universal-auth/identities/${identityId}`;
  const { clientId } = mustSucceed(await admin.post(path, auth)).body.identityUniversalAuth;
  const made = mustSucceed(await admin.post(`${path}/client-secrets`, secret)).body;
  const client = { clientId, heldClientSecret: made.clientSecret };
  await spoil?.(scene, { path, clientSecretId: made.clientSecretData.id, client });
  return client;
}

const logIn = ({ admin }: Scene, { clientId, heldClientSecret }: Client): Promise<Reply> =>
  admin.anonymous.post('/api/v1/auth/universal-auth/login', { clientId, clientSecret: heldClientSecret });

const refused = (unfit: Unfit): ErrorCase => ({
  rest: async (scene) => logIn(scene, await makeClient(scene, unfit)),
  graphql: async (scene) => {
    const client = await makeClient(scene, unfit);
    return send('logInWithUniversalAuth', () => ({ ...client }))(scene);
  },
});

/** Of machine identities that log in. They leave a world as it is for others. */
export const LOGINS: Partial<Record<ErrorCode, ErrorCase>> = {
  CREDENTIALS_INVALID: {
    rest: send(LOGIN, () => ({ heldClientSecret: mintClientSecret() })),
    graphql: send('logInWithUniversalAuth', () => ({ heldClientSecret: mintClientSecret() })),
  },
  CLIENT_SECRET_REVOKED: refused({
    spoil: ({ admin }, { path, clientSecretId }) => admin.post(`${path}/client-secrets/${clientSecretId}/revoke`),
  }),
  CLIENT_SECRET_EXPIRED: refused({
    secret: { ttl: 3600 },
    spoil: ({ strongroom }, { clientSecretId }) =>
      strongroom.sql('update universal_auth_client_secret set expires_at = now() where id = $1', [clientSecretId]),
  }),
  CLIENT_SECRET_USES_EXHAUSTED: refused({
    secret: { numUsesLimit: 1 },
    spoil: (scene, { client }) => logIn(scene, client),
  }),
  CLIENT_SECRET_ADDRESS_REFUSED: refused({ auth: { clientSecretTrustedIps: [{ ipAddress: '192.0.2.0/24' }] } }),
  UNIVERSAL_AUTH_NOT_FOUND: {
    rest: send(`GET ${UNIVERSAL_AUTH}`, ({ otherIdentity }) => ({ identity: otherIdentity })),
    graphql: send('identityUniversalAuth', ({ otherIdentity }) => ({ identity: otherIdentity })),
  },
  OIDC_AUTH_NOT_FOUND: {
    rest: send(`GET ${OIDC_AUTH}`, ({ otherIdentity }) => ({ identity: otherIdentity })),
    graphql: send('identityOidcAuth', ({ otherIdentity }) => ({ identity: otherIdentity })),
  },
  KUBERNETES_AUTH_NOT_FOUND: {
    rest: send(`GET ${KUBERNETES_AUTH}`, ({ otherIdentity }) => ({ identity: otherIdentity })),
    graphql: send('identityKubernetesAuth', ({ otherIdentity }) => ({ identity: otherIdentity })),
  },
  LOGIN_FAILED: {
    rest: send('POST /api/v1/auth/oidc-auth/login', () => ({ platformToken: 'no token' })),
    graphql: send('logInWithOidc', () => ({ platformToken: 'no token' })),
  },
  CLIENT_SECRET_NOT_FOUND: unknown(
    'clientSecret',
    `GET ${UNIVERSAL_AUTH}/client-secrets/{clientSecretId}`,
    'clientSecret',
  ),
};

/** Of a second configuration of one identity. */
export const SECOND_LOGIN: Partial<Record<ErrorCode, ErrorCase>> = {
  KUBERNETES_AUTH_EXISTS: { rest: again(`POST ${KUBERNETES_AUTH}`), graphql: again('attachKubernetesAuth') },
  OIDC_AUTH_EXISTS: { rest: again(`POST ${OIDC_AUTH}`), graphql: again('attachOidcAuth') },
  UNIVERSAL_AUTH_EXISTS: { rest: again(`POST ${UNIVERSAL_AUTH}`), graphql: again('attachUniversalAuth') },
};
