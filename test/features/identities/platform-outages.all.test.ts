// What logins with tokens of platforms do while the platform is slow, gone or private, and while configurations change.
import { Caller, mustSucceed, type Reply } from '../../kit/caller.js';
import { Cluster } from '../../kit/outside/cluster.js';
import { Issuer } from '../../kit/outside/issuer.js';
import { LENIENT, type SharedStrongroom, useSharedStrongroom } from '../../kit/strongroom.js';
import { until } from '../../kit/until.js';

const OIDC = '/api/v1/auth/oidc-auth';
const KUBERNETES = '/api/v1/auth/kubernetes-auth';
/** Questions to a platform at once, and logins that take part in them or wait. */
const [ASKED_AT_ONCE, MOST_AT_ONCE] = [8, 108];
/** How many issuers a node knows the keys of. */
const KNOWN_ISSUERS = 500;
/** Longer than an issuer that failed is left in peace. */
const PEACE_MS = 20_000;

const strongroom = useSharedStrongroom(LENIENT);
const strict = useSharedStrongroom();

/** A platform, and how an identity is configured for it. */
interface Platform {
  readonly auth: string;
  readonly configuration: Readonly<Record<string, unknown>>;
  /** A change after which its tokens do not log in any more. */
  readonly narrower: Readonly<Record<string, unknown>>;
  token(): Promise<string>;
  /** How often it was asked for anything. */
  readonly asked: number;
  /** Connections that were made to it. */
  readonly connections: number;
  hold(): () => void;
  fall(silent: boolean): void;
  stop(): Promise<void>;
}

async function pipelines(): Promise<Platform & { readonly issuer: Issuer }> {
  const issuer = await Issuer.start();
  return {
    issuer,
    auth: OIDC,
    configuration: {
      oidcDiscoveryUrl: issuer.url,
      caCert: issuer.authorityPem,
      boundIssuer: issuer.url,
      boundSubject: 'repo:example/shop:ref:refs/heads/*',
    },
    narrower: { boundSubject: 'repo:example/other:ref:refs/heads/*' },
    token: () => issuer.token(),
    get asked() {
      return issuer.asked;
    },
    get connections() {
      return issuer.connections;
    },
    hold: () => issuer.hold(),
    fall: (silent) => {
      issuer.answer = silent ? 'silence' : 'well';
    },
    stop: () => issuer.stop(),
  };
}

async function pods(): Promise<Platform> {
  const cluster = await Cluster.start();
  return {
    auth: KUBERNETES,
    configuration: {
      kubernetesHost: cluster.url,
      caCert: cluster.authorityPem,
      tokenReviewerJwt: cluster.token('kube-system', 'reviewer', { isReviewer: true }),
      allowedNamespaces: 'shop',
    },
    narrower: { allowedNamespaces: 'other' },
    token: async () => cluster.token(),
    get asked() {
      return cluster.asked;
    },
    get connections() {
      return cluster.connections;
    },
    hold: () => cluster.hold(),
    fall: (silent) => {
      cluster.answer = silent ? 'silence' : 'well';
    },
    stop: () => cluster.stop(),
  };
}

const PLATFORMS = [
  ['OIDC', pipelines],
  ['Kubernetes', pods],
] as const;

/** With a platform that nobody has asked yet. */
async function withPlatform<P extends Platform>(
  start: () => Promise<P>,
  work: (platform: P) => Promise<void>,
): Promise<void> {
  const platform = await start();
  try {
    await work(platform);
  } finally {
    await platform.stop();
  }
}

/** A machine identity that logs in with tokens of a platform. @param settings over those of its configuration */
async function seedLogin(
  { auth, configuration, token }: Platform,
  settings: Readonly<Record<string, unknown>> = {},
  { seed }: SharedStrongroom = strongroom,
  given?: Pick<Awaited<ReturnType<SharedStrongroom['seed']['project']>>, 'admin' | 'project'>,
) {
  const { admin, project } = given ?? (await seed.project());
  const { identityId } = await seed.caller(admin, { project: project.id });
  const path = `${auth}/identities/${identityId}`;
  mustSucceed(await admin.post(path, { ...configuration, ...settings }));
  const logIn = async (jwt?: string, url = admin.url): Promise<Reply> =>
    admin.anonymous.at(url).post(`${auth}/login`, { identityId, jwt: jwt ?? (await token()) });
  /** Of all refused logins, oldest first. */
  const reasons = async (): Promise<string[]> => {
    const { auditEvents } = await admin.data(
      `query ($id: ID!) { auditEvents(actorId: $id, actions: ["identity-oidc-auth:login", "identity-kubernetes-auth:login"], outcome: DENIED, first: 100) {
        nodes { facts { name stringValue } } } }`,
      { id: identityId },
    );
    return auditEvents.nodes
      .map(({ facts }: { facts: { name: string; stringValue: string }[] }) =>
        facts.find(({ name }) => name === 'reason'),
      )
      .map((reason: { stringValue: string } | undefined) => reason?.stringValue)
      .reverse();
  };
  /** Sessions of logins. */
  const sessions = async (): Promise<unknown[]> => {
    const { accessTokens } = await admin.data(
      'query ($id: ID!) { accessTokens(identityId: $id) { nodes { authMethod } } }',
      { id: identityId },
    );
    return accessTokens.nodes.filter(({ authMethod }: { authMethod: string }) => /OIDC|KUBERNETES/.test(authMethod));
  };
  return { admin, project, identityId, path, logIn, reasons, sessions };
}

describe('an issuer', () => {
  test.each(['silence', 'drip'] as const)(
    'that ends in %s refuses the login, is left in peace for a while, and is asked again',
    async (answer) => {
      await withPlatform(pipelines, async (platform) => {
        platform.issuer.answer = answer;
        const { logIn, reasons } = await seedLogin(platform);
        expect(await logIn()).toBeError(401, 'LOGIN_FAILED');
        const { asked } = platform;
        // It failed late, and the pause begins there: it would be over already if it were counted from the question.
        expect(await logIn()).toBeError(401, 'LOGIN_FAILED');
        expect(platform.asked).toBe(asked);
        expect(await reasons()).toEqual(['KEYS_UNAVAILABLE', 'KEYS_UNAVAILABLE']);
        platform.issuer.answer = 'well';
        await until('a login', PEACE_MS, async () => (await logIn()).status === 200);
        expect(platform.issuer.reads).toBe(1);
      });
    },
  );

  test('that answers late logs in all who wait for it, and is asked once', async () => {
    await withPlatform(pipelines, async (platform) => {
      const { logIn } = await seedLogin(platform);
      const answer = platform.hold();
      const logins = Promise.all(Array.from({ length: 20 }, () => logIn()));
      await until('a question', 5_000, () => platform.asked > 0);
      answer();
      for (const reply of await logins) mustSucceed(reply);
      expect(platform.issuer.reads).toBe(1);
    });
  });

  test('that is gone does not keep those out whose keys are known', async () => {
    await withPlatform(pipelines, async (platform) => {
      const { logIn, reasons } = await seedLogin(platform);
      mustSucceed(await logIn());
      platform.fall(true);
      const known = await platform.token();
      await platform.issuer.changeKey();
      // Only who shows another key waits for the issuer.
      const unknown = logIn();
      mustSucceed(await logIn(known));
      expect(await unknown).toBeError(401, 'LOGIN_FAILED');
      expect(await reasons()).toEqual(['KEY_UNKNOWN']);
      mustSucceed(await logIn(known));
    });
  });
});

describe('the keys of an issuer that is gone', () => {
  test('stay known, however many issuers another organization comes with', async () => {
    await withPlatform(pipelines, async (platform) => {
      const { logIn } = await seedLogin(platform);
      mustSucceed(await logIn());
      platform.fall(true);
      const greedy = await Promise.all(Array.from({ length: 30 }, () => seedLogin(platform)));
      const jwt = await platform.token();
      await Promise.all(
        greedy.map(async ({ admin, path, logIn: logInThere }, one) => {
          for (let n = 0; n <= KNOWN_ISSUERS / greedy.length; n++) {
            const oidcDiscoveryUrl = `https://localhost:1/${one}-${n}`;
            mustSucceed(await admin.patch(path, { oidcDiscoveryUrl }));
            expect(await logInThere(jwt)).toBeError(401, 'LOGIN_FAILED');
          }
        }),
      );
      mustSucceed(await logIn());
    });
  });
});

describe.each(PLATFORMS)('a platform of %s', (_, start) => {
  test('that hangs takes its own logins only, and all of it is whole again once it answers', async () => {
    await withPlatform(start, async (hanging) => {
      await withPlatform(start, async (other) => {
        const stuck = await seedLogin(hanging);
        const fine = await seedLogin(other);
        hanging.fall(true);
        let ended = 0;
        const logins = Promise.all(
          Array.from({ length: 90 }, async () => {
            const reply = await stuck.logIn();
            ended += 1;
            return reply;
          }),
        );
        await until('a question', 5_000, () => hanging.asked > 0);
        for (let n = 0; n < 5; n++) mustSucceed(await fine.logIn());
        mustSucceed(await fine.admin.get(`/api/v1/workspace/${fine.project.id}`));
        expect(ended).toBe(0);
        for (const reply of await logins) expect(reply).toBeError(401, 'LOGIN_FAILED');
        expect(new Set(await stuck.reasons())).toEqual(
          new Set([hanging.auth === OIDC ? 'KEYS_UNAVAILABLE' : 'REVIEW_UNAVAILABLE']),
        );
        expect(await stuck.reasons()).toHaveLength(90);
        hanging.fall(false);
        await until('a login', PEACE_MS, async () => (await stuck.logIn()).status === 200);
        for (const reply of await Promise.all(Array.from({ length: 50 }, () => stuck.logIn()))) mustSucceed(reply);
      });
    });
  });

  test('is asked by few at once, however many log in; the rest is refused as an outage, and all is whole again', async () => {
    await withPlatform(start, async (platform) => {
      const { admin, identityId, logIn, reasons } = await seedLogin(platform);
      const answer = platform.hold();
      const statuses: number[] = [];
      const headers = { 'content-type': 'application/json' };
      // The kit's callers have not as many connections.
      const logins = Promise.all(
        Array.from({ length: MOST_AT_ONCE + 40 }, async () => {
          const body = JSON.stringify({ identityId, jwt: await platform.token() });
          const { status } = await fetch(`${admin.url}${platform.auth}/login`, { method: 'POST', headers, body });
          statuses.push(status);
        }),
      );
      await until('refusals', 10_000, () => statuses.length >= 40);
      expect(new Set(statuses)).toEqual(new Set([401]));
      expect(new Set(await reasons())).toEqual(
        new Set([platform.auth === OIDC ? 'KEYS_UNAVAILABLE' : 'REVIEW_UNAVAILABLE']),
      );
      expect(platform.asked).toBeGreaterThan(0);
      expect(platform.asked).toBeLessThanOrEqual(ASKED_AT_ONCE);
      answer();
      await logins;
      expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(MOST_AT_ONCE);
      await until('a login', PEACE_MS, async () => (await logIn()).status === 200);
      for (const reply of await Promise.all(Array.from({ length: 100 }, () => logIn()))) mustSucceed(reply);
    });
  });

  test('in a private network is not asked where private addresses are not allowed', async () => {
    await withPlatform(start, async (platform) => {
      const { logIn, reasons } = await seedLogin(platform, {}, strict);
      expect(await logIn()).toBeError(401, 'LOGIN_FAILED');
      expect(platform.connections).toBe(0);
      expect(await reasons()).toEqual([platform.auth === OIDC ? 'KEYS_UNAVAILABLE' : 'REVIEW_UNAVAILABLE']);
    });
  });
});

describe('a cluster that is asked as much as it may be for one identity', () => {
  test('is asked for another of the same organization, and for another organization, all the same', async () => {
    await withPlatform(pods, async (platform) => {
      const crowded = await seedLogin(platform);
      const beside = await seedLogin(platform, {}, strongroom, crowded);
      const elsewhere = await seedLogin(platform);
      const answer = platform.hold();
      const logins = Promise.all(Array.from({ length: 60 }, () => crowded.logIn()));
      await until('questions', 5_000, () => platform.asked >= ASKED_AT_ONCE);
      const others = Promise.all([beside.logIn(), elsewhere.logIn()]);
      await until('two more', 5_000, () => platform.asked >= ASKED_AT_ONCE + 2);
      expect(platform.asked).toBe(ASKED_AT_ONCE + 2);
      answer();
      for (const reply of await others) mustSucceed(reply);
      await logins;
    });
  });
});

describe.each(PLATFORMS)('a change of a configuration of %s', (_, start) => {
  test('ends the sessions on every node at once, and holds for logins on every node', async () => {
    await withPlatform(start, async (platform) => {
      const other = await strongroom.otherNode();
      const { admin, project, path, logIn } = await seedLogin(platform);
      const read = `/api/v1/workspace/${project.id}`;
      const session = async (url: string) => mustSucceed(await logIn(undefined, url)).body.accessToken as string;
      for (const [change, restore] of [
        [() => admin.patch(path, platform.narrower), () => admin.patch(path, platform.configuration)],
        [() => admin.delete(path), () => admin.post(path, platform.configuration)],
      ] as const) {
        const tokens = [await session(admin.url), await session(other.url)];
        const callers = tokens.flatMap((token) => [new Caller(admin.url, token), other.caller(token)]);
        // Each node knows each of them by now.
        for (const caller of callers) mustSucceed(await caller.get(read));
        mustSucceed(await change());
        for (const caller of callers) expect(await caller.get(read)).toBeError(401, 'TOKEN_INVALID');
        for (const url of [other.url, admin.url]) expect(await logIn(undefined, url)).toBeError(401, 'LOGIN_FAILED');
        mustSucceed(await restore());
        mustSucceed(await other.caller(await session(other.url)).get(read));
      }
    });
  });

  test.each(['narrower', 'removed'])(
    'that comes while a login is being proved holds for that login: %s',
    async (change) => {
      await withPlatform(start, async (platform) => {
        const { admin, path, logIn, reasons, sessions } = await seedLogin(platform);
        const answer = platform.hold();
        const login = logIn();
        await until('a question', 5_000, () => platform.asked > 0);
        mustSucceed(await (change === 'narrower' ? admin.patch(path, platform.narrower) : admin.delete(path)));
        answer();
        expect(await login).toBeError(401, 'LOGIN_FAILED');
        expect(await sessions()).toEqual([]);
        const mismatch = platform.auth === OIDC ? 'SUBJECT_MISMATCH' : 'NAMESPACE_MISMATCH';
        expect(await reasons()).toEqual(change === 'narrower' ? [mismatch] : []);
      });
    },
  );

  test('that comes among many logins leaves no session of before', async () => {
    await withPlatform(start, async (platform) => {
      const { admin, path, logIn, sessions } = await seedLogin(platform);
      const other = await strongroom.otherNode();
      mustSucceed(await logIn());
      for (let round = 0; round < 5; round++) {
        const logins = Array.from({ length: 40 }, (_, n) => logIn(undefined, n % 2 === 0 ? admin.url : other.url));
        await Promise.race(logins);
        mustSucceed(await admin.patch(path, platform.narrower));
        for (const { status } of await Promise.all(logins)) expect([200, 401]).toContain(status);
        expect(await sessions()).toEqual([]);
        mustSucceed(await admin.delete(path));
        mustSucceed(await admin.post(path, platform.configuration));
      }
    });
  });
});
