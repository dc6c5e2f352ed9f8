import { Caller, mustSucceed } from '../../kit/caller.js';
import { Cluster } from '../../kit/outside/cluster.js';
import { LENIENT, useSharedStrongroom } from '../../kit/strongroom.js';

const AUTH = '/api/v1/auth/kubernetes-auth';

const strongroom = useSharedStrongroom(LENIENT);
let cluster: Cluster;
beforeAll(async () => {
  cluster = await Cluster.start();
});
afterAll(() => cluster.stop());
afterEach(() => {
  cluster.answer = 'well';
});

/** A machine identity whose pods log in. @param settings over those of its configuration, as clients write them */
async function seedPod(settings: Readonly<Record<string, unknown>> = {}) {
  const { admin, project } = await strongroom.seed.project();
  const { identityId } = await strongroom.seed.caller(admin, { project: project.id });
  const reviewer = cluster.token('kube-system', 'reviewer', { isReviewer: true });
  const configuration = {
    kubernetesHost: cluster.url,
    caCert: cluster.authorityPem,
    tokenReviewerJwt: reviewer,
    allowedNamespaces: 'shop, shop-*',
    allowedNames: 'web',
    allowedAudience: '',
    ...settings,
  };
  const { body } = mustSucceed(await admin.post(`${AUTH}/identities/${identityId}`, configuration));
  const logIn = (jwt: string) => admin.anonymous.post(`${AUTH}/login`, { identityId, jwt });
  /** Why the last login was refused, as an operator reads it. */
  const reason = async () => {
    const { auditEvents } = await admin.data(
      `{ auditEvents(actions: ["identity-kubernetes-auth:login"], first: 1) { nodes { facts { name stringValue } } } }`,
    );
    const facts = auditEvents.nodes[0]?.facts ?? [];
    return facts.find(({ name }: { name: string }) => name === 'reason')?.stringValue ?? null;
  };
  return { admin, project, identityId, reviewer, logIn, reason, configured: body.identityKubernetesAuth };
}

describe('a pod', () => {
  test('logs in with the token of its service account, and uses what it gets', async () => {
    const { admin, project, identityId, logIn } = await seedPod({ accessTokenTTL: 600 });
    const { body } = mustSucceed(await logIn(cluster.token('shop-eu', 'web')));
    expect(body).toEqual({
      accessToken: expect.any(String),
      expiresIn: 600,
      accessTokenMaxTTL: 2_592_000,
      tokenType: 'Bearer',
    });
    mustSucceed(await new Caller(admin.url, body.accessToken).get(`/api/v1/workspace/${project.id}`));
    const { accessTokens } = await admin.data(
      'query ($id: ID!) { accessTokens(identityId: $id) { nodes { authMethod sessionClaims { key value } } } }',
      { id: identityId },
    );
    expect(accessTokens.nodes[0]).toEqual({
      authMethod: 'KUBERNETES_AUTH',
      sessionClaims: [
        { key: 'name', value: 'web' },
        { key: 'namespace', value: 'shop-eu' },
      ],
    });
  });

  test('asks for its own review where there is no reviewer, and needs that right', async () => {
    const { admin, identityId, logIn, reason } = await seedPod({ tokenReviewerJwt: null });
    mustSucceed(await logIn(cluster.token('shop', 'web', { isReviewer: true })));
    expect(await logIn(cluster.token('shop', 'web'))).toBeError(401, 'LOGIN_FAILED');
    expect(await reason()).toBe('REVIEW_UNAVAILABLE');
    const { logInWithKubernetes } = await admin.anonymous.data(
      'mutation ($input: LogInWithKubernetesInput!) { logInWithKubernetes(input: $input) { tokenData { identityId } } }',
      { input: { identityId, jwt: cluster.token('shop', 'web', { isReviewer: true }) } },
    );
    expect(logInWithKubernetes.tokenData.identityId).toBe(identityId);
  });

  test('logs in with a token for the audience that is asked for, and with no other', async () => {
    const { logIn, reason } = await seedPod({ allowedAudience: 'strongroom' });
    mustSucceed(await logIn(cluster.token('shop', 'web', { audiences: ['strongroom'] })));
    expect(await logIn(cluster.token('shop', 'web'))).toBeError(401, 'LOGIN_FAILED');
    expect(await reason()).toBe('TOKEN_REJECTED');
    cluster.answer = 'forgetful of audiences';
    expect(await logIn(cluster.token('shop', 'web', { audiences: ['strongroom'] }))).toBeError(401, 'LOGIN_FAILED');
    expect(await reason()).toBe('AUDIENCE_MISMATCH');
  });
});

/** What a login is refused for, and the reason that operators find. */
const REFUSALS: readonly (readonly [string, () => string, string])[] = [
  ['another namespace', () => cluster.token('stranger', 'web'), 'NAMESPACE_MISMATCH'],
  ['another name', () => cluster.token('shop', 'other'), 'NAME_MISMATCH'],
  ['a token that nobody has', () => 'a.b.c', 'TOKEN_REJECTED'],
  ['words', () => 'no token', 'TOKEN_MALFORMED'],
  [
    'the token of a pod that is gone',
    () => {
      const token = cluster.token();
      cluster.forget(token);
      return token;
    },
    'TOKEN_REJECTED',
  ],
];

describe('a login', () => {
  test('is refused with each of these; operators learn why, and the caller does not', async () => {
    // At once: each refusal takes its time.
    const reasons = REFUSALS.map(async ([name, make]) => {
      const { logIn, reason } = await seedPod();
      const jwt = make();
      const refused = await logIn(jwt);
      expect(refused).toBeError(401, 'LOGIN_FAILED');
      expect(refused.text).not.toContain(jwt);
      const why = await reason();
      mustSucceed(await logIn(cluster.token()));
      return [name, why];
    });
    expect(await Promise.all(reasons)).toEqual(REFUSALS.map(([name, , why]) => [name, why]));
  });

  test.each(['redirect', 'error', 'nonsense'] as const)(
    'is refused where the cluster answers with a %s',
    async (answer) => {
      const { logIn, reason } = await seedPod();
      cluster.answer = answer;
      expect(await logIn(cluster.token())).toBeError(401, 'LOGIN_FAILED');
      expect(await reason()).toBe('REVIEW_UNAVAILABLE');
    },
  );

  test('is refused where the token of the reviewer cannot be decrypted, in the same words', async () => {
    const { identityId, logIn, reason } = await seedPod();
    await strongroom.sql(
      'update identity_kubernetes_auth set reviewer_token_version = reviewer_token_version + 1 where identity_id = $1',
      [identityId],
    );
    expect(await logIn(cluster.token())).toBeError(401, 'LOGIN_FAILED');
    expect(await reason()).toBe('REVIEW_UNAVAILABLE');
  });

  test('with what has not the shape of a token asks no cluster', async () => {
    const { logIn } = await seedPod();
    const { asked } = cluster;
    await logIn('words, and more of them');
    expect(cluster.asked).toBe(asked);
  });
});

describe('a Kubernetes configuration', () => {
  test('reads as it was written but for the token of its reviewer, which is sealed', async () => {
    const { admin, identityId, reviewer, configured, logIn } = await seedPod();
    expect(configured).toMatchObject({
      id: identityId,
      kubernetesHost: cluster.url,
      caCert: cluster.authorityPem.trim(),
      allowedNamespaces: 'shop,shop-*',
      allowedNames: 'web',
      allowedAudience: '',
      hasReviewerToken: true,
    });
    const path = `${AUTH}/identities/${identityId}`;
    expect((await admin.get(path)).text).not.toContain(reviewer);
    const [row] = await strongroom.sql('select * from identity_kubernetes_auth where identity_id = $1', [identityId]);
    expect(JSON.stringify(row)).not.toContain(reviewer);
    expect(Buffer.from(row?.reviewer_token_sealed as Buffer).includes(reviewer)).toBe(false);
    const next = cluster.token('kube-system', 'reviewer', { isReviewer: true });
    cluster.forget(reviewer);
    expect(await logIn(cluster.token())).toBeError(401, 'LOGIN_FAILED');
    mustSucceed(await admin.patch(path, { tokenReviewerJwt: next }));
    mustSucceed(await logIn(cluster.token()));
    expect(mustSucceed(await admin.patch(path, { tokenReviewerJwt: null })).body.identityKubernetesAuth).toMatchObject({
      hasReviewerToken: false,
    });
  });

  test('takes the token of its reviewer as a file has it, with a new line, and none that no header can carry', async () => {
    const { admin, identityId, reviewer, logIn } = await seedPod();
    const path = `${AUTH}/identities/${identityId}`;
    mustSucceed(await admin.patch(path, { tokenReviewerJwt: `${reviewer}\n` }));
    mustSucceed(await logIn(cluster.token()));
    for (const tokenReviewerJwt of [`${reviewer}\r\nX-Other: 1`, `${reviewer}\u20ac`, ' '])
      expect(await admin.patch(path, { tokenReviewerJwt })).toBeError(422, 'VALIDATION_FAILED');
    mustSucceed(await logIn(cluster.token()));
  });

  test('needs a namespace or a name, and says all that is wrong at once', async () => {
    const { admin, identityId } = await seedPod();
    const path = `${AUTH}/identities/${identityId}`;
    const unbound = await admin.patch(path, { allowedNamespaces: '', allowedNames: '' });
    expect(unbound.body.details).toMatchObject([{ code: 'BINDING_REQUIRED' }]);
    const wrong = { kubernetesHost: 'ftp://x', caCert: 'no certificate', allowedNames: '[' };
    expect((await admin.patch(path, wrong)).body.details).toHaveLength(3);
  });

  test('ends the sessions that it let in, when it is changed and when it is removed', async () => {
    const { admin, project, identityId, logIn } = await seedPod();
    const session = async () => new Caller(admin.url, mustSucceed(await logIn(cluster.token())).body.accessToken);
    const path = `/api/v1/workspace/${project.id}`;
    const first = await session();
    mustSucceed(await first.get(path));
    mustSucceed(await admin.patch(`${AUTH}/identities/${identityId}`, { allowedNames: 'w*' }));
    expect(await first.get(path)).toBeError(401, 'TOKEN_INVALID');
    const second = await session();
    mustSucceed(await second.get(path));
    mustSucceed(await admin.delete(`${AUTH}/identities/${identityId}`));
    expect(await second.get(path)).toBeError(401, 'TOKEN_INVALID');
    expect(await logIn(cluster.token())).toBeError(401, 'LOGIN_FAILED');
  });
});
