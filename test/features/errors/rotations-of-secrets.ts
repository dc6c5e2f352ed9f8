import type { ErrorCode } from '../../../src/kernel/errors.js';
import type { Reply } from '../../kit/caller.js';
import { until } from '../../kit/until.js';
import { again, during, type ErrorCase, mutate, type Provoke, type Scene, send, unknown } from './scene.js';

const TOKENS = '/api/v2/secret-rotations/datatool-service-token';
const ACCOUNTS = '/api/v2/secret-rotations/hostos-local-account';
const CONNECTIONS = '/api/v1/app-connections/datatool';
const ROTATE = `POST ${TOKENS}/{rotationId}/rotate-secrets`;
const CANCEL = 'POST /api/v2/secret-rotations/attempts/{attemptId}/cancel';
const WITHIN_MS = 20_000;

/** Of rotations that are not there. */
export const SECRET_ROTATIONS_NOT_THERE: Partial<Record<ErrorCode, ErrorCase>> = {
  SECRET_ROTATION_NOT_FOUND: unknown('rotation', `GET ${TOKENS}/{rotationId}`, 'secretRotation'),
  SECRET_ROTATION_ATTEMPT_NOT_FOUND: unknown('waitingAttempt', CANCEL, 'cancelSecretRotationAttempt'),
  CREDENTIAL_DEBT_NOT_FOUND: unknown(
    'credentialDebt',
    'POST /api/v2/secret-rotations/credential-debts/give-up',
    'giveUpCredentialDebts',
  ),
};

/** Of rotations that are in the way of something, or of themselves. */
export const SECRET_ROTATION_CLASHES: Partial<Record<ErrorCode, ErrorCase>> = {
  CONNECTION_IN_USE: {
    rest: send('DELETE /api/v1/app-connections/datatool/{connectionId}', inUse),
    graphql: send('deleteAppConnection', inUse),
  },
  ACCOUNT_ROTATED: { rest: publishedToken(loginByRest), graphql: publishedToken(loginByGraphql) },
  SECRET_ROTATION_NAME_TAKEN: { rest: again(`POST ${TOKENS}`), graphql: again('createSecretRotation') },
  ROTATION_RUNNING: whileItIs('in_progress'),
  ROTATION_DELETING: whileItIs('deleting'),
  REVOCATION_GIVEN_UP: { rest: givenUp(deleteByRest), graphql: givenUp(deleteByGraphql) },
  ROTATION_UNDECIDED: whileItIs('needs_reconciliation'),
  ROTATION_ATTEMPT_BEGUN: {
    rest: send(CANCEL, ended),
    graphql: send('cancelSecretRotationAttempt', ended),
  },
  ROTATION_CANCELLED: { rest: cancelled(send(ROTATE)), graphql: cancelled(send('rotateSecrets')) },
  ROTATION_CONTINUES: {
    rest: withoutJobs(({ admin, world }) =>
      admin.request({ method: 'POST', path: `${TOKENS}/${world.rotation}/rotate-secrets`, withinMs: 2 * WITHIN_MS }),
    ),
    graphql: 'takes half a minute, which REST has waited for',
  },
  // Its password is reset by every rotation anyway.
  ROTATION_NOT_RECONCILABLE: {
    rest: send(`POST ${ACCOUNTS}/{rotationId}/reconcile`),
    graphql: send('reconcileSecretRotation'),
  },
};

type Login = (scene: Scene, credentials: object) => Promise<Reply>;

/** A connection that would log in with a token that a rotation has published. */
function publishedToken(login: Login): Provoke {
  return async (scene) => {
    const { admin, world } = scene;
    const { body: held } = await admin.get(`${TOKENS}/${world.rotation}/generated-credentials`);
    const { body } = await admin.get(`${CONNECTIONS}/${world.rotationConnection}`);
    const { instanceUrl, accountId } = body.appConnection.credentials;
    const { serviceToken: apiToken } = held.generatedCredentials[held.activeIndex];
    return login(scene, { instanceUrl, accountId, apiToken });
  };
}

async function loginByRest({ admin }: Scene, credentials: object): Promise<Reply> {
  return admin.post(CONNECTIONS, { name: 'published', method: 'api-token', credentials });
}

async function loginByGraphql({ admin }: Scene, datatool: object): Promise<Reply> {
  return mutate(admin, 'createAppConnection', { name: 'published', credentials: { datatool } });
}

function inUse({ rotationConnection }: Scene['world']) {
  return { connection: rotationConnection };
}

function ended({ rotationAttempt }: Scene['world']) {
  return { waitingAttempt: rotationAttempt };
}

/** A rotation that is asked for while the one before has left it so. */
function whileItIs(status: string): ErrorCase {
  const put = ({ strongroom, world }: Scene) =>
    strongroom.sql('update secret_rotation set status = $2 where id = $1', [world.rotation, status]);
  const once =
    (provoke: Provoke): Provoke =>
    async (scene) => {
      await put(scene);
      return provoke(scene);
    };
  return { rest: once(send(ROTATE)), graphql: once(send('rotateSecrets')) };
}

/** What happens while nothing is carried out that was begun. */
function withoutJobs(provoke: Provoke, kind = 'rotate'): Provoke {
  const change = (verb: string) => (scene: Scene) =>
    scene.strongroom.admin.post(`/api/v1/job-kinds/${encodeURIComponent(`secret-rotations:${kind}`)}/${verb}`);
  return during(change('pause'), change('resume'), provoke);
}

/** What is asked for, and cancelled before it has begun. */
function cancelled(provoke: Provoke): Provoke {
  return withoutJobs(async (scene): Promise<Reply> => {
    const pending = provoke(scene);
    const attempt = await until('the attempt', WITHIN_MS, async () => (await plannedOf(scene))?.id);
    await mutate(scene.admin, 'cancelSecretRotationAttempt', { attemptId: attempt });
    return pending;
  });
}

async function plannedOf({ strongroom, world }: Scene): Promise<{ id: string } | undefined> {
  const statement = `select id from secret_rotation_attempt where rotation_id = $1 and state = 'planned'`;
  const [attempt] = await strongroom.sql<{ id: string }>(statement, [world.rotation]);
  return attempt;
}

/** A deletion that waits for its revocations, while somebody gives them up. */
function givenUp(provoke: Provoke): Provoke {
  return withoutJobs(async (scene): Promise<Reply> => {
    const { admin, strongroom, world } = scene;
    const pending = provoke(scene);
    await until('the deletion', WITHIN_MS, async () => {
      const rows = await strongroom.sql(`select id from secret_rotation where id = $1 and status = 'deleting'`, [
        world.rotation,
      ]);
      return rows.length > 0;
    });
    await mutate(admin, 'deleteSecretRotation', { id: world.rotation });
    return pending;
  }, 'pay-debts');
}

async function deleteByRest({ admin, world }: Scene): Promise<Reply> {
  return admin.delete(`${TOKENS}/${world.rotation}?revokeGeneratedCredentials=true`);
}

async function deleteByGraphql({ admin, world }: Scene): Promise<Reply> {
  return mutate(admin, 'deleteSecretRotation', { id: world.rotation, revokeGeneratedCredentials: true });
}
