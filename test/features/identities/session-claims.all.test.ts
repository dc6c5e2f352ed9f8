import { Caller, mustSucceed } from '../../kit/caller.js';
import { EventStreamClient } from '../../kit/event-stream.js';
import { Cluster } from '../../kit/outside/cluster.js';
import { Issuer, PIPELINE } from '../../kit/outside/issuer.js';
import type { GivenRule } from '../../kit/rules.js';
import { LENIENT, useSharedStrongroom } from '../../kit/strongroom.js';
import { groupInProject, groupWith, organizationCaller, organizationRole, projectRole } from '../groups/kit.js';

const strongroom = useSharedStrongroom(LENIENT);
let issuer: Issuer;
beforeAll(async () => {
  issuer = await Issuer.start();
});
afterAll(() => issuer.stop());

const READ = ['describeSecret', 'readValue'];
const ENVIRONMENTS = ['dev', 'staging', 'prod'];
const ofClaim = (rest: Partial<GivenRule> = {}): GivenRule => ({
  subject: 'secrets',
  action: READ,
  conditions: { environment: '{{identity.auth.oidc.claims.environment}}' },
  ...rest,
});
const KEPT = { environment: 'environment', repository: 'repository' };
const configured = (settings: object = {}) => ({
  oidcDiscoveryUrl: issuer.url,
  caCert: issuer.authorityPem,
  boundIssuer: issuer.url,
  boundAudiences: PIPELINE.aud,
  claimMetadataMapping: KEPT,
  ...settings,
});

/** A machine identity with a role of these rules in a project with a secret in each environment. */
async function seedMachine(...rules: readonly GivenRule[]) {
  const { admin, project } = await strongroom.seed.project();
  for (const environment of ENVIRONMENTS) {
    const secret = { projectId: project.id, environment, secretValue: `of ${environment}` };
    mustSucceed(await admin.post('/api/v4/secrets/ONE', secret));
  }
  const role = await projectRole(admin, project.id, ...rules);
  const machine = await strongroom.seed.caller(admin, { project: project.id, projectRoles: [role] });
  const { identityId } = machine;
  mustSucceed(await admin.post(`/api/v1/auth/oidc-auth/identities/${identityId}`, configured()));
  /** A session of a pipeline with these claims. */
  const begin = async (claims: object = {}) => {
    const jwt = await issuer.token({ ...PIPELINE, ...claims });
    const { body } = mustSucceed(await admin.anonymous.post('/api/v1/auth/oidc-auth/login', { identityId, jwt }));
    return new Caller(admin.url, body.accessToken);
  };
  const urlOf = (environment: string) => `/api/v4/secrets/ONE?projectId=${project.id}&environment=${environment}`;
  const readable = async (caller: Caller) => {
    const replies = await Promise.all(ENVIRONMENTS.map((environment) => caller.get(urlOf(environment))));
    for (const [at, { status, body }] of replies.entries())
      if (status === 200) expect(body.secret.secretValue).toBe(`of ${ENVIRONMENTS[at]}`);
    return ENVIRONMENTS.filter((_, at) => replies[at]?.status === 200);
  };
  return { admin, project, machine, identityId, begin, readable, role };
}

describe('a rule of a role that names a claim', () => {
  test('gives each session of one identity what it came with, and no other token of it anything', async () => {
    const { admin, project, machine, begin, readable } = await seedMachine(ofClaim());
    const [dev, prod, other, none] = [
      await begin({ environment: 'dev' }),
      await begin({ environment: 'prod' }),
      await begin({ environment: 'd*' }),
      await begin({ environment: undefined }),
    ];
    expect(await readable(dev)).toEqual(['dev']);
    expect(await readable(prod)).toEqual(['prod']);
    for (const caller of [other, none, machine]) expect(await readable(caller)).toEqual([]);
    // At once, over both interfaces, with replies that are kept.
    const ALL = 'query ($id: ID!) { project(id: $id) { environments { slug secrets { nodes { secretValue } } } } }';
    const seen = (caller: Caller) => async () => {
      const { body } = await caller.graphql(ALL, { id: project.id });
      return body.data.project.environments.flatMap(
        ({ secrets }: { secrets: { nodes: object[] } | null }) => secrets?.nodes ?? [],
      );
    };
    const lists = (caller: Caller) => async () =>
      Promise.all(
        ENVIRONMENTS.map(async (environment) => {
          const { body } = await caller.get(`/api/v4/secrets?projectId=${project.id}&environment=${environment}`);
          return (body.secrets ?? []).map(({ secretValue }: { secretValue: string }) => secretValue);
        }),
      );
    const inTurn = Array.from({ length: 60 }, (_, at) => [dev, prod][at % 2] as Caller);
    const replies = await Promise.all(inTurn.map((caller, at) => (at % 3 === 0 ? seen(caller)() : lists(caller)())));
    for (const [at, reply] of replies.entries()) {
      const text = JSON.stringify(reply);
      expect(text).toContain(at % 2 === 0 ? 'of dev' : 'of prod');
      expect(text).not.toContain(at % 2 === 0 ? 'of prod' : 'of dev');
    }
    expect(await readable(admin)).toEqual(ENVIRONMENTS);
  });

  test('forbids whatever the claim where a session has none', async () => {
    const { machine, begin, readable } = await seedMachine(
      { subject: 'secrets', action: READ },
      ofClaim({ inverted: true }),
    );
    expect(await readable(await begin({ environment: 'prod' }))).toEqual(['dev', 'staging']);
    expect(await readable(machine)).toEqual([]);
    expect(await readable(await begin({ environment: '' }))).toEqual([]);
  });

  test('takes the claim literally in a pattern, and follows the session through its life', async () => {
    const glob = { environment: { $glob: '{{identity.auth.oidc.claims.environment}}*' } };
    const { admin, project, role, begin, readable } = await seedMachine(ofClaim({ conditions: glob }));
    const session = await begin({ environment: 'd' });
    expect(await readable(session)).toEqual(['dev']);
    expect(await readable(await begin({ environment: '*' }))).toEqual([]);
    expect(await readable(await begin({ environment: '{dev,prod}' }))).toEqual([]);
    const { roles } = mustSucceed(await admin.get(`/api/v1/projects/${project.id}/roles`)).body;
    const { id } = roles.find(({ slug }: { slug: string }) => slug === role);
    const permissions = [ofClaim({ conditions: { environment: '{{identity.auth.oidc.claims.stage}}' } })];
    mustSucceed(await admin.patch(`/api/v1/projects/${project.id}/roles/${id}`, { permissions }));
    expect(await readable(session)).toEqual([]);
  });

  test('is fulfilled by what it names alone, as it stands, whatever a claim looks like and whatever its key is', async () => {
    const named = '{{identity.auth.oidc.claims.environment}}';
    const conditions = [named, { $in: ['none', named] }, { $glob: named }, { $glob: `{none,${named}}` }];
    const seeded = await Promise.all(
      conditions.map((environment) => seedMachine(ofClaim({ conditions: { environment } }))),
    );
    const odd = [
      ...[
        '{{identity.auth.oidc.claims.repository}}',
        '{{',
        '}}',
        '\\dev',
        '\\d\\e\\v',
        'DEV',
        'dev ',
        ' dev',
        'dev\n',
        '?ev',
        '[a-z]*',
      ],
      ...[
        '**',
        '{dev}',
        'dev,prod',
        '__proto__',
        'constructor',
        '\uff44ev',
        'dev\u0000',
        `dev${'/'.repeat(300)}`,
        '',
        ' ',
      ],
      ...[['dev', 'prod'], ['dev', 'dev'], ['dev', null], [['dev']], [], { dev: 'dev' }, true, 0, null],
    ];
    for (const { begin, readable } of seeded) {
      expect(await readable(await begin({ environment: 'dev' }))).toEqual(['dev']);
      for (const environment of odd)
        expect([environment, await readable(await begin({ environment, repository: 'dev' }))]).toEqual([
          environment,
          [],
        ]);
    }
    const keys = ['constructor', 'id', 'auth', 'metadata.team', 'identity.id', 'environment.x'];
    const rules = [
      ...['{{identity.id}}', '{{identity.metadata.team}}', '{{identity.auth.oidc.claims.constructor.name}}'],
      ...['{{identity.auth.oidc.claims.__proto__}}', '{{identity.auth.kubernetes.name}}', named],
    ];
    const { admin, identityId, begin, readable } = await seedMachine(
      ...rules.map((environment) => ofClaim({ conditions: { environment } })),
    );
    const claimMetadataMapping = Object.fromEntries(keys.map((key) => [key, 'environment']));
    const path = `/api/v1/auth/oidc-auth/identities/${identityId}`;
    mustSucceed(await admin.patch(path, { claimMetadataMapping }));
    expect(await readable(await begin({ environment: 'dev' }))).toEqual([]);
  });

  test('holds for what a session is told of changes, for its own tokens, and for what others ask in the same words', async () => {
    const listing = { subject: 'secret-folders', action: 'read' };
    const { admin, project, identityId, begin, readable } = await seedMachine(ofClaim(), listing, {
      subject: 'role',
      action: 'read',
    });
    const role = await organizationRole(admin, { subject: 'identity', action: ['read', 'create-token'] });
    mustSucceed(await admin.patch(`/api/v1/identities/${identityId}`, { role }));
    const sessions = new Map([
      ['dev', await begin({ environment: 'dev', repository: 'example/one' })],
      ['prod', await begin({ environment: 'prod', repository: 'example/two' })],
    ]);
    const watched = `/api/v1/events?${new URLSearchParams({ projectId: project.id, kinds: 'secret' })}`;
    const streams = await Promise.all(
      [...sessions.values()].map((session) => EventStreamClient.open(session, watched)),
    );
    for (const stream of streams) await stream.count(1);
    for (const environment of ENVIRONMENTS)
      mustSucceed(
        await admin.post(`/api/v4/secrets/NEW_${environment.toUpperCase()}`, {
          ...{ projectId: project.id, environment, secretValue: 'new' },
        }),
      );
    for (const [at, environment] of [...sessions.keys()].entries()) {
      const last = `LAST_${environment.toUpperCase()}`;
      mustSucceed(
        await admin.post(`/api/v4/secrets/${last}`, { projectId: project.id, environment, secretValue: 'x' }),
      );
      const stream = streams[at] as EventStreamClient;
      await stream.find(last, ({ data }) => data?.secretKey === last);
      // What was made before may come, too: it was not settled yet.
      const keys = stream.events.flatMap(({ data }) => (data?.secretKey === 'ONE' ? [] : (data?.secretKey ?? [])));
      expect(keys).toEqual([`NEW_${environment.toUpperCase()}`, last]);
      stream.close();
    }
    const other = await strongroom.otherNode();
    for (let round = 0; round < 3; round++)
      for (const [environment, session] of sessions)
        for (const caller of [session, other.caller(session.token as string)]) {
          const data = await caller.data(EXPLAIN, { id: project.id, environment: 'prod' });
          expect(data.explainAccess.isAllowed).toBe(environment === 'prod');
          expect(data.explainAccess.session).toContainEqual({
            name: 'auth.oidc.claims.repository',
            value: environment === 'dev' ? 'example/one' : 'example/two',
          });
          expect(await readable(caller)).toEqual([environment]);
        }
    for (const session of sessions.values()) {
      const { accessToken } = mustSucceed(
        await session.post(`/api/v1/auth/token-auth/identities/${identityId}/tokens`, {}),
      ).body;
      expect(await readable(new Caller(admin.url, accessToken))).toEqual([]);
    }
  });

  test('counts in the organization, too', async () => {
    const { admin, identityId, begin } = await seedMachine();
    const conditions = { username: { $glob: '*@{{identity.auth.oidc.claims.domain}}' } };
    const role = await organizationRole(admin, { subject: 'member', action: 'assign-role', conditions });
    mustSucceed(await admin.patch(`/api/v1/identities/${identityId}`, { role }));
    const kept = { claimMetadataMapping: { domain: 'domain' } };
    mustSucceed(await admin.patch(`/api/v1/auth/oidc-auth/identities/${identityId}`, kept));
    const CAN = `query ($checks: [OrganizationAccessCheckInput!]!) { canInOrganization(checks: $checks) { allowed } }`;
    const assign = (domain: string) => ({
      subject: 'MEMBER',
      action: 'ASSIGN_ROLE',
      fields: { username: `one@${domain}`, role: 'no-access' },
    });
    const allowed = async (caller: Caller) =>
      (await caller.data(CAN, { checks: ['example.com', 'other.com'].map(assign) })).canInOrganization.allowed;
    expect(await allowed(await begin({ domain: 'example.com' }))).toEqual([true, false]);
    expect(await allowed(await begin({ domain: 'other.com' }))).toEqual([false, true]);
    expect(await allowed(await begin())).toEqual([false, false]);
  });

  test('names what a pod came with', async () => {
    const cluster = await Cluster.start();
    try {
      const conditions = { environment: '{{identity.auth.kubernetes.namespace}}', secretName: 'ONE' };
      const { admin, identityId, readable } = await seedMachine(ofClaim({ conditions }));
      const tokenReviewerJwt = cluster.token('kube-system', 'reviewer', { isReviewer: true });
      const configuration = {
        kubernetesHost: cluster.url,
        caCert: cluster.authorityPem,
        tokenReviewerJwt,
        allowedNames: 'web',
      };
      mustSucceed(await admin.post(`/api/v1/auth/kubernetes-auth/identities/${identityId}`, configuration));
      const jwt = cluster.token('staging', 'web');
      const { body } = mustSucceed(
        await admin.anonymous.post('/api/v1/auth/kubernetes-auth/login', { identityId, jwt }),
      );
      expect(await readable(new Caller(admin.url, body.accessToken))).toEqual(['staging']);
    } finally {
      await cluster.stop();
    }
  });

  test('names nothing else of a session', async () => {
    const { admin, project } = await strongroom.seed.project();
    for (const name of ['auth.oidc.subject', 'auth.oidc.claims', 'auth.kubernetes.uid', 'auth.universal.claims.x']) {
      const permissions = [ofClaim({ conditions: { environment: `{{identity.${name}}}` } })];
      const reply = await admin.post(`/api/v1/projects/${project.id}/roles`, { slug: 'odd', name: 'odd', permissions });
      expect(reply).toBeError(422, 'VALIDATION_FAILED');
      expect(reply.body.details).toEqual([expect.objectContaining({ code: 'UNKNOWN_ATTRIBUTE' })]);
    }
  });
});

const EXPLAIN = `query ($id: ID!, $identity: ID, $session: [SessionAttributeInput!], $environment: String!) {
  explainAccess(projectId: $id, identityId: $identity, session: $session, subject: SECRETS, action: READ_VALUE,
    fields: { environment: $environment, secretPath: "/", secretName: "ONE" }) {
    isAllowed rule { conditions { environment { is } } } session { name value }
  }
}`;

describe('an explanation', () => {
  test('shows what the session came with, and answers for any session of others', async () => {
    const { admin, project, identityId, begin } = await seedMachine(ofClaim(), { subject: 'role', action: 'read' });
    const session = await begin({ environment: 'dev' });
    const own = async (environment: string) =>
      (await session.data(EXPLAIN, { id: project.id, environment })).explainAccess;
    const claims = [
      { name: 'auth.oidc.claims.environment', value: 'dev' },
      { name: 'auth.oidc.claims.repository', value: PIPELINE.repository },
    ];
    const rule = { conditions: { environment: { is: 'dev' } } };
    expect(await own('dev')).toEqual({ isAllowed: true, rule, session: expect.arrayContaining(claims) });
    expect(await own('prod')).toMatchObject({ isAllowed: false, rule: null });
    const ask = async (given?: object[]) =>
      (await admin.data(EXPLAIN, { id: project.id, identity: identityId, environment: 'prod', session: given }))
        .explainAccess;
    expect(await ask()).toEqual({ isAllowed: false, rule: null, session: [] });
    const asProd = [{ name: 'auth.oidc.claims.environment', value: 'prod' }];
    expect(await ask(asProd)).toEqual({
      isAllowed: true,
      rule: { conditions: { environment: { is: 'prod' } } },
      session: asProd,
    });
    const odd = { id: project.id, environment: 'dev', session: [{ name: 'id', value: 'x' }] };
    expect(await admin.graphql(EXPLAIN, odd)).toBeError(422, 'VALIDATION_FAILED');
    const { effectivePermissions } = await session.data(
      'query ($id: ID!) { effectivePermissions(projectId: $id) { permissions { rule { conditions { environment { is } } } } } }',
      { id: project.id },
    );
    expect(effectivePermissions.permissions).toContainEqual({ rule });
  });
});

describe('who can read a secret', () => {
  test('is also a machine that can in some of its sessions, which is said', async () => {
    const inProduction = { environment: 'prod', secretName: '{{identity.auth.oidc.claims.repository}}' };
    const { admin, project, identityId } = await seedMachine(
      ofClaim({ conditions: inProduction }),
      ofClaim({ inverted: true, conditions: { secretName: '{{identity.auth.oidc.claims.forbidden}}' } }),
    );
    const READERS = `query ($id: ID!, $environment: String!) {
      secrets(projectId: $id, environment: $environment) { nodes { readers { nodes { memberId isForSomeSessions } } } }
      accessAt(projectId: $id, subject: SECRETS, action: READ_VALUE, fields: { environment: $environment, secretName: "ONE" }) {
        nodes { memberId isForSomeSessions }
      }
    }`;
    const readers = async (environment: string) => {
      const { secrets, accessAt } = await admin.data(READERS, { id: project.id, environment });
      expect(secrets.nodes[0].readers.nodes).toEqual(accessAt.nodes);
      return accessAt.nodes;
    };
    expect(await readers('prod')).toContainEqual({ memberId: identityId, isForSomeSessions: true });
    expect(await readers('dev')).toEqual([
      { memberId: expect.not.stringMatching(identityId), isForSomeSessions: false },
    ]);
  });
});

describe('who has less', () => {
  const WRITES: GivenRule = {
    subject: 'identity',
    action: ['read', 'edit', 'create-token', 'revoke-auth', 'grant-privileges'],
  };

  test('gives nobody a session with claims that rules name', async () => {
    const { admin, project, identityId } = await seedMachine(ofClaim());
    const writer = await organizationCaller(strongroom, admin, WRITES);
    const path = `/api/v1/auth/oidc-auth/identities/${identityId}`;
    expect(await writer.patch(path, { boundAudiences: 'https://elsewhere.example.com' })).toBeError(
      403,
      'PERMISSION_BOUNDARY',
    );
    expect(await writer.delete(path)).toBeError(403, 'PERMISSION_BOUNDARY');
    // Reading one environment is less than what any claim may name.
    const join = (slug: string) =>
      admin.post(`/api/v2/workspace/${project.id}/identity-memberships/${writer.identityId}`, {
        roles: [{ role: slug }],
      });
    const atDev = ofClaim({ conditions: { environment: 'dev' } });
    mustSucceed(await join(await projectRole(admin, project.id, atDev)));
    expect(await writer.patch(path, { accessTokenTTL: 60 })).toBeError(403, 'PERMISSION_BOUNDARY');
    const all = await projectRole(admin, project.id, { subject: 'secrets', action: READ });
    const memberships = `/api/v2/workspace/${project.id}/identity-memberships/${writer.identityId}`;
    mustSucceed(await admin.patch(memberships, { roles: [{ role: all }] }));
    mustSucceed(await writer.patch(path, { accessTokenTTL: 60 }));
  });

  test('changes metadata that rules name beside a claim only for what it has, and other metadata as before', async () => {
    const both = { environment: '{{identity.metadata.team}}', secretName: '{{identity.auth.oidc.claims.repository}}' };
    const inOne = { environment: { $glob: '{{identity.metadata.stage}}-{{identity.auth.oidc.claims.environment}}' } };
    for (const conditions of [both, inOne]) {
      const { admin, identityId } = await seedMachine(ofClaim({ conditions }));
      const writer = await organizationCaller(strongroom, admin, WRITES);
      const metadata = (key: string, value: string) => ({ metadata: [{ key, value }] });
      const path = `/api/v1/identities/${identityId}`;
      mustSucceed(await writer.patch(path, metadata('note', 'any')));
      expect(await writer.patch(path, metadata('team', 'prod'))).toHaveProperty(
        'status',
        conditions === both ? 403 : 200,
      );
      expect(await writer.patch(path, metadata('stage', 'prod'))).toHaveProperty(
        'status',
        conditions === both ? 200 : 403,
      );
      mustSucceed(
        await admin.patch(path, { metadata: [...metadata('team', 'a').metadata, ...metadata('stage', 'b').metadata] }),
      );
    }
  });

  test.each([
    ['allow', [ofClaim()]],
    ['forbid', [{ subject: 'secrets', action: READ }, ofClaim({ inverted: true })]],
  ] as const)('opens itself no session with other claims where rules that %s name them', async (_, rules) => {
    const { admin, project, machine, identityId, begin, readable } = await seedMachine(...rules);
    const cluster = await Cluster.start();
    const stranger = await Issuer.start();
    try {
      const role = await organizationRole(admin, WRITES);
      mustSucceed(await admin.patch(`/api/v1/identities/${identityId}`, { role }));
      const session = await begin({ environment: 'dev' });
      const before = await readable(session);
      const path = `/api/v1/auth/oidc-auth/identities/${identityId}`;
      const own = configured({
        oidcDiscoveryUrl: stranger.url,
        boundIssuer: stranger.url,
        caCert: stranger.authorityPem,
      });
      for (const caller of [session, machine]) {
        expect(await caller.patch(path, own)).toBeError(403, 'PERMISSION_BOUNDARY');
        expect(await caller.patch(path, { claimMetadataMapping: { environment: 'ref' } })).toBeError(
          403,
          'PERMISSION_BOUNDARY',
        );
        const pods = { kubernetesHost: cluster.url, caCert: cluster.authorityPem, allowedNames: 'web' };
        expect(await caller.post(`/api/v1/auth/kubernetes-auth/identities/${identityId}`, pods)).toBeError(
          403,
          'PERMISSION_BOUNDARY',
        );
      }
      // What comes with no claims gives less than any session has.
      mustSucceed(await session.post(`/api/v1/auth/universal-auth/identities/${identityId}`, {}));
      expect(await readable(session)).toEqual(before);
      const memberships = `/api/v2/workspace/${project.id}/identity-memberships/${identityId}`;
      const all = await projectRole(admin, project.id, { subject: 'secrets', action: READ });
      const named = await projectRole(admin, project.id, ofClaim());
      mustSucceed(await admin.patch(memberships, { roles: [{ role: named }, { role: all }] }));
      mustSucceed(await session.patch(path, { accessTokenTTL: 60 }));
    } finally {
      await Promise.all([cluster.stop(), stranger.stop()]);
    }
  });

  test('hands on nothing that it has by its session alone, to itself or to others, by whatever way', async () => {
    const manages: GivenRule[] = [
      { subject: 'identity', action: ['read', 'edit', 'create', 'grant-privileges'] },
      { subject: 'role', action: ['read', 'create', 'edit'] },
      { subject: 'secrets', action: READ, conditions: { environment: 'staging' } },
    ];
    const { admin, project, identityId, begin, readable, role } = await seedMachine(ofClaim(), ...manages);
    const inOrganization = await organizationRole(
      admin,
      { subject: 'groups', action: ['read', 'edit', 'add-identities'] },
      { subject: 'identity', action: ['read', 'edit', 'grant-privileges', 'create-token'] },
    );
    mustSucceed(await admin.patch(`/api/v1/identities/${identityId}`, { role: inOrganization }));
    const [prod, dev] = [await begin({ environment: 'prod' }), await begin({ environment: 'dev' })];
    const other = await strongroom.seed.caller(admin, { project: project.id, projectRoles: ['no-access'] });
    for (const [environment, isOwn] of [
      ['prod', false],
      ['staging', true],
    ] as const) {
      const rule = ofClaim({ conditions: { environment } });
      const giving = await projectRole(admin, project.id, rule);
      const group = await groupWith(admin, 'no-access');
      await groupInProject(admin, group, project.id, giving);
      const privilege = (to: string) => ({
        ...{ identityId: to, projectId: project.id, slug: `more-${environment}`, type: { isTemporary: false } },
        permissions: [rule],
      });
      const membershipOf = (to: string) => `/api/v2/workspace/${project.id}/identity-memberships/${to}`;
      const replies = [
        await prod.patch(membershipOf(identityId), { roles: [{ role }, { role: giving }] }),
        await prod.patch(membershipOf(other.identityId), { roles: [{ role: giving }] }),
        await prod.post('/api/v2/identity-project-additional-privilege', privilege(identityId)),
        await prod.post('/api/v2/identity-project-additional-privilege', privilege(other.identityId)),
        await prod.post(`/api/v1/groups/${group}/machine-identities/${identityId}`, {}),
        await prod.post(`/api/v1/groups/${group}/machine-identities/${other.identityId}`, {}),
        await prod.post(`/api/v1/projects/${project.id}/roles`, {
          ...{ slug: `own-${environment}`, name: 'own', permissions: [rule] },
        }),
      ];
      const statuses = replies.map(({ status, body }) => (status === 200 ? 200 : body.code));
      expect(statuses).toEqual(replies.map(() => (isOwn ? 200 : 'PERMISSION_BOUNDARY')));
      expect(await readable(dev)).toEqual(['dev', 'staging']);
      expect(await readable(other)).toEqual(isOwn ? ['staging'] : []);
    }
    const holder = await strongroom.seed.caller(admin, {
      project: project.id,
      projectRoles: [await projectRole(admin, project.id, ofClaim({ conditions: { environment: 'prod' } }))],
    });
    const tokens = `/api/v1/auth/token-auth/identities/${holder.identityId}/tokens`;
    expect(await prod.post(tokens, {})).toBeError(403, 'PERMISSION_BOUNDARY');
  });

  test('hands on nothing that rules forbid another session of it', async () => {
    const { admin, project, identityId, begin, readable } = await seedMachine(
      { subject: 'secrets', action: READ },
      ofClaim({ inverted: true }),
      { subject: 'identity', action: ['read', 'edit', 'grant-privileges'] },
    );
    const [prod, dev] = [await begin({ environment: 'prod' }), await begin({ environment: 'dev' })];
    const privilege = {
      ...{ identityId, projectId: project.id, slug: 'more', type: { isTemporary: false } },
      permissions: [ofClaim({ conditions: { environment: 'prod' } })],
    };
    const give = (caller: Caller) => caller.post('/api/v2/identity-project-additional-privilege', privilege);
    expect(await give(dev)).toBeError(403, 'PERMISSION_BOUNDARY');
    expect(await readable(prod)).toEqual(['dev', 'staging']);
    mustSucceed(await give(admin));
    expect(await readable(prod)).toEqual(ENVIRONMENTS);
  });

  test('hands on nothing, and is found, however the name of a claim is written', async () => {
    const written = { environment: '{{\n\tidentity.auth.oidc.claims.environment\u00a0}}' };
    const { admin, project, identityId, begin, readable } = await seedMachine(ofClaim({ conditions: written }), {
      subject: 'role',
      action: ['read', 'create'],
    });
    const prod = await begin({ environment: 'prod' });
    expect(await readable(prod)).toEqual(['prod']);
    const role = { slug: 'own', name: 'own', permissions: [ofClaim({ conditions: { environment: 'prod' } })] };
    expect(await prod.post(`/api/v1/projects/${project.id}/roles`, role)).toBeError(403, 'PERMISSION_BOUNDARY');
    const { accessAt } = await admin.data(
      `query ($id: ID!) { accessAt(projectId: $id, subject: SECRETS, action: READ_VALUE, fields: { environment: "prod", secretName: "ONE" }) {
        nodes { memberId isForSomeSessions } } }`,
      { id: project.id },
    );
    expect(accessAt.nodes).toContainEqual({ memberId: identityId, isForSomeSessions: true });
  });
});
