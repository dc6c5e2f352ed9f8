// What strangers learn from refused logins with tokens of platforms, and what floods of them cost others.
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { mustSucceed, type Reply } from '../../kit/caller.js';
import { Cluster } from '../../kit/outside/cluster.js';
import { Issuer, PIPELINE } from '../../kit/outside/issuer.js';
import { LENIENT, type SecondNode, useStrongroom } from '../../kit/strongroom.js';
import { until } from '../../kit/until.js';
import { hideAuditTrail, showAuditTrail } from '../errors/faults.js';
import { exhaust, newAddress, passed, QUOTAS, startLimited } from '../gateway/limited.js';

/** What an address may fail over all identities, in limits of one. */
const IDENTITIES_OF_ADDRESS = 4;
/** What is left of it after one identity has failed all that it may. */
const LIMIT_OF_OTHERS = (IDENTITIES_OF_ADDRESS - 1) * QUOTAS.failures;
/** Between attempts whose order is looked at. */
const APART_MS = 200;

/** Its audit trail is away for a while. */
const strongroom = useStrongroom(LENIENT);
let node: SecondNode;
let issuer: Issuer;
let cluster: Cluster;
beforeAll(async () => {
  [node, issuer, cluster] = await Promise.all([startLimited(strongroom), Issuer.start(), Cluster.start()]);
});
afterAll(async () => {
  await Promise.all([node.stop(), issuer.stop(), cluster.stop()]);
});

/** Ways in: a configuration, a token that logs in, one that does not, and another platform with the settings for it. */
const WAYS = [
  [
    'oidc-auth',
    () => ({
      oidcDiscoveryUrl: issuer.url,
      caCert: issuer.authorityPem,
      boundIssuer: issuer.url,
      boundSubject: PIPELINE.sub,
    }),
    () => issuer.token(),
    () => issuer.token({ sub: 'repo:stranger/shop' }),
    async () => {
      const platform = await Issuer.start();
      const { url, authorityPem } = platform;
      return { platform, settings: { oidcDiscoveryUrl: url, boundIssuer: url, caCert: authorityPem } };
    },
  ],
  [
    'kubernetes-auth',
    () => ({
      kubernetesHost: cluster.url,
      caCert: cluster.authorityPem,
      tokenReviewerJwt: cluster.token('kube-system', 'reviewer', { isReviewer: true }),
      allowedNames: 'web',
    }),
    async () => cluster.token(),
    async () => cluster.token('shop', 'stranger'),
    async () => {
      const platform = await Cluster.start();
      const { url, authorityPem } = platform;
      const tokenReviewerJwt = platform.token('kube-system', 'reviewer', { isReviewer: true });
      return { platform, settings: { kubernetesHost: url, tokenReviewerJwt, caCert: authorityPem } };
    },
  ],
] as const;

/** As `exhaust`, but all at once, since each refusal takes its time: one more than should pass. The limited one is last. */
async function exhaustAtOnce(limit: number, ask: () => Promise<Reply>): Promise<Reply[]> {
  const replies = await Promise.all(Array.from({ length: limit + 1 }, ask));
  return replies.toSorted((a, b) => a.status - b.status);
}

describe.each(WAYS)('a refused login by %s', (method, configuration, right, wrong, startOther) => {
  async function seed(settings: object = {}) {
    const { admin, project } = await strongroom.seed.project();
    const { identityId } = await strongroom.seed.caller(admin, { project: project.id });
    mustSucceed(
      await admin.post(`/api/v1/auth/${method}/identities/${identityId}`, { ...configuration(), ...settings }),
    );
    const logIn = async (jwt: string | Promise<string>, address: string, id = identityId) =>
      admin.anonymous
        .at(node.url)
        .post(`/api/v1/auth/${method}/login`, { identityId: id, jwt: await jwt }, { 'x-forwarded-for': address });
    return { admin, identityId, logIn };
  }

  test('says no more while the audit trail is away: strangers do not learn which identities there are', async () => {
    const { admin, identityId } = await seed();
    const jwt = await wrong();
    await hideAuditTrail({ strongroom });
    try {
      for (const id of [identityId, randomUUID()])
        expect(await admin.anonymous.post(`/api/v1/auth/${method}/login`, { identityId: id, jwt })).toBeError(
          401,
          'LOGIN_FAILED',
        );
      // Whoever is let in leaves a record, or is not let in.
      expect(await admin.anonymous.post(`/api/v1/auth/${method}/login`, { identityId, jwt: await right() })).toBeError(
        503,
        'AUDIT_UNAVAILABLE',
      );
    } finally {
      await showAuditTrail({ strongroom });
    }
  });

  test('counts for its address, known identity or not; the owner logs in from another, however many fail', async () => {
    const { identityId, logIn } = await seed();
    for (const id of [identityId, randomUUID()]) {
      const address = newAddress();
      const replies = await exhaustAtOnce(QUOTAS.failures, () => logIn(wrong(), address, id));
      expect(passed(replies)).toBe(QUOTAS.failures);
      expect(replies.at(-1)).toBeError(429, 'RATE_LIMITED');
    }
    await Promise.all(
      Array.from({ length: 3 * QUOTAS.failures }, async () =>
        expect(await logIn(wrong(), newAddress())).toBeError(401, 'LOGIN_FAILED'),
      ),
    );
    const replies = await exhaust(async () => logIn(right(), newAddress()));
    expect(replies.map(({ status }) => status)).toEqual([...Array(QUOTAS.mints).fill(200), 429]);
  });

  test('counts for its identity at its address, where others log in; over all identities there is an end, too', async () => {
    const broken = await seed();
    const fine = await seed();
    const address = newAddress();
    expect(passed(await exhaustAtOnce(QUOTAS.failures, () => broken.logIn(wrong(), address)))).toBe(QUOTAS.failures);
    mustSucceed(await fine.logIn(right(), address));
    const guesses = await exhaustAtOnce(LIMIT_OF_OTHERS, () => fine.logIn(wrong(), address, randomUUID()));
    expect(passed(guesses)).toBe(LIMIT_OF_OTHERS);
    expect(guesses.at(-1)).toBeError(429, 'RATE_LIMITED');
    // Client secrets and tokens are counted apart, and as strictly as ever.
    const { anonymous } = broken.admin.at(node.url);
    const secrets = await exhaust(async () =>
      anonymous.post(
        '/api/v1/auth/universal-auth/login',
        { clientId: randomUUID(), clientSecret: 'wrong' },
        { 'x-forwarded-for': address },
      ),
    );
    expect(passed(secrets)).toBe(QUOTAS.failures);
  });

  test('comes in the order of the attempts while its platform hangs: it takes as long as that of an unknown identity', async () => {
    const { platform, settings } = await startOther();
    try {
      const { logIn } = await seed(settings);
      platform.answer = 'silence';
      const refused: string[] = [];
      const attempt = async (name: string, id?: string) => {
        expect(await logIn(platform.token(), newAddress(), id)).toBeError(401, 'LOGIN_FAILED');
        refused.push(name);
      };
      const first = attempt('unknown, first', randomUUID());
      await delay(APART_MS);
      const known = attempt('known');
      await until('a question', 5_000, () => platform.asked > 0);
      await delay(APART_MS);
      await Promise.all([first, known, attempt('unknown, last', randomUUID())]);
      expect(refused).toEqual(['unknown, first', 'known', 'unknown, last']);
    } finally {
      await platform.stop();
    }
  });

  test.each(['error', 'silence'] as const)(
    'counts the same where its platform is away, in %s: from the same address others log in, and itself afterwards',
    async (answer) => {
      const { platform, settings } = await startOther();
      try {
        const stuck = await seed(settings);
        const fine = await seed();
        const address = newAddress();
        platform.answer = answer;
        const waiting = Promise.all(
          Array.from({ length: QUOTAS.failures }, () => stuck.logIn(platform.token(), address)),
        );
        mustSucceed(await fine.logIn(right(), address));
        for (const reply of await waiting) expect(reply).toBeError(401, 'LOGIN_FAILED');
        // As of an identity that does not exist: otherwise whoever tries on would know that this one does.
        expect(await stuck.logIn(platform.token(), address)).toBeError(429, 'RATE_LIMITED');
        mustSucceed(await fine.logIn(right(), address));
        const guesses = await exhaustAtOnce(LIMIT_OF_OTHERS, () => fine.logIn(wrong(), address, randomUUID()));
        expect(passed(guesses)).toBe(LIMIT_OF_OTHERS);
        platform.answer = 'well';
        const elsewhere = newAddress();
        await until('a login', 20_000, async () => (await stuck.logIn(platform.token(), elsewhere)).status === 200);
      } finally {
        await platform.stop();
      }
    },
  );
});
