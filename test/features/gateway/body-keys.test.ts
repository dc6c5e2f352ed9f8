import type { Reply } from '../../kit/caller.js';
import { type SharedStrongroom, useSharedStrongroom } from '../../kit/strongroom.js';

const strongroom: SharedStrongroom = useSharedStrongroom();
const STRICT = { prefer: 'handling=strict' };
const PROJECTS = '/api/v2/workspace';

const messagesIn = ({ body }: Reply): string[] =>
  (body.errors?.[0].extensions ?? body).details.map(
    ({ path, message }: Record<string, string>) => `${path}: ${message}`,
  );
const ignoredIn = ({ headers }: Reply): string | undefined => headers['x-ignored-keys'];

describe('a misspelt key of a body', () => {
  test('is refused with 422, naming both, and nothing is made', async () => {
    const { admin } = await strongroom.seed.organization();
    const reply = await admin.post(PROJECTS, { projectNmae: 'Shop', has_delete_protection: true });
    expect(reply).toBeError(422, 'VALIDATION_FAILED');
    expect(messagesIn(reply)).toEqual([
      'body: unknown field `projectNmae`; did you mean `projectName`?',
      'body: unknown field `has_delete_protection`; did you mean `hasDeleteProtection`?',
      'body.projectName: required',
    ]);
    expect(ignoredIn(reply)).toBeUndefined();
    expect((await admin.get('/api/v1/projects')).body.projects).toEqual([]);
  });

  test('is refused in an object of a list too, so that no value is lost', async () => {
    const { admin, project } = await strongroom.seed.project();
    const at = { projectId: project.id, environment: 'dev' };
    const secrets = [
      { secretKey: 'A' },
      { secretKey: 'B', secretVlaue: 'x', secretMetadata: [{ key: 'k', isEncrypte: true }] },
    ];
    const reply = await admin.post('/api/v4/secrets/batch', { ...at, secrets });
    expect(reply).toBeError(422, 'VALIDATION_FAILED');
    expect(messagesIn(reply)).toEqual([
      'body.secrets[1]: unknown field `secretVlaue`; did you mean `secretValue`?',
      'body.secrets[1].secretMetadata[0]: unknown field `isEncrypte`; did you mean `isEncrypted`?',
    ]);
  });

  test('is refused if only words at its beginning differ, so that no limit is lost', async () => {
    const { admin, project } = await strongroom.seed.project();
    const { identityId } = await strongroom.seed.caller(admin);
    const settings = await admin.patch(`/api/v1/auth/token-auth/identities/${identityId}`, {
      trustedIps: [{ ipAddress: '10.0.0.1' }],
      ttl: 60,
    });
    expect(settings).toBeError(422, 'VALIDATION_FAILED');
    expect(messagesIn(settings)).toEqual([
      'body: unknown field `trustedIps`; did you mean `accessTokenTrustedIps`?',
      expect.stringMatching(/^body: unknown field `ttl`; did you mean `accessToken/),
    ]);
    const at = { projectId: project.id, environment: 'dev' };
    await admin.post('/api/v4/secrets/KEY', { ...at, secretValue: 'v' });
    expect(await admin.delete('/api/v4/secrets/KEY', { ...at, secretType: 'personal' })).toBeError(
      422,
      'VALIDATION_FAILED',
    );
    expect((await admin.get(`/api/v4/secrets/KEY?${new URLSearchParams(at)}`)).status).toBe(200);
  });

  test('makes no permanent role of one for a time', async () => {
    const { admin, project } = await strongroom.seed.project();
    const { identityId } = await strongroom.seed.caller(admin);
    const path = `/api/v2/workspace/${project.id}/identity-memberships/${identityId}`;
    const temporary = { temporaryMode: 'relative', temporaryRange: '1h' };
    for (const body of [
      { role: 'admin', ...temporary },
      { role: 'admin', isTemporary: true },
      { roles: [{ role: 'admin', ...temporary }] },
    ])
      expect(await admin.post(path, body)).toBeError(422, 'VALIDATION_FAILED');
    const permanent = { role: 'viewer', isTemporary: false, ...temporary };
    expect((await admin.post(path, { roles: [permanent] })).status).toBe(200);
  });

  test('is told without its name if that may be a secret', async () => {
    const { admin } = await strongroom.seed.organization();
    const reply = await admin.post(PROJECTS, { projectName: 'Shop', 'kms Key Id': 'x' });
    expect(messagesIn(reply)).toEqual([
      'body: unknown field (only identifiers of at most 40 characters are named); did you mean `kmsKeyId`?',
    ]);
  });
});

describe('any other unknown key of a body', () => {
  test('is ignored, and listed in X-Ignored-Keys', async () => {
    const { admin } = await strongroom.seed.organization();
    const sent = { projectName: 'Shop', ID: 1, colour: { projectName: 'x' }, 'no name': 1, [`x${'y'.repeat(40)}`]: 1 };
    const reply = await admin.post(PROJECTS, sent);
    expect([reply.status, reply.body.project?.name, ignoredIn(reply)]).toEqual([200, 'Shop', 'ID, colour, others=2']);
    expect(reply.headers['preference-applied']).toBeUndefined();
  });

  test('adds no header field, whatever it holds', async () => {
    const { admin } = await strongroom.seed.organization();
    const keys = ['a\r\nX-Injected: 1', 'b, X-Injected', 'c=1', 'é', '\u0000', '"', ''];
    const reply = await admin.post(PROJECTS, {
      projectName: 'Shop',
      ...Object.fromEntries(keys.map((key) => [key, 1])),
    });
    expect([reply.status, ignoredIn(reply)]).toEqual([200, `others=${keys.length}`]);
    expect(reply.headers).not.toHaveProperty('x-injected');
  });

  test('is listed beside an error that comes later', async () => {
    const { admin } = await strongroom.seed.organization();
    const sent = { projectName: 'Shop', slug: 'web-shop', extra: 1 };
    expect((await admin.post(PROJECTS, sent)).status).toBe(200);
    const taken = await admin.post(PROJECTS, sent);
    expect(taken).toBeError(409, 'PROJECT_SLUG_TAKEN');
    expect(ignoredIn(taken)).toBe('extra');
  });

  test('does not make another request of one that is sent again with its idempotency key', async () => {
    const { admin } = await strongroom.seed.organization();
    const key = { 'idempotency-key': 'once' };
    const first = await admin.post(PROJECTS, { projectName: 'Shop', extra: 1 }, key);
    const second = await admin.post(PROJECTS, { projectName: 'Shop', other: 1 }, key);
    expect([second.body.project?.id, ignoredIn(first), ignoredIn(second)]).toEqual([
      first.body.project.id,
      'extra',
      'other',
    ]);
  });

  test('is ignored where the operation takes no body, and before a login', async () => {
    const { admin, project } = await strongroom.seed.project();
    const deleted = await admin.delete(`/api/v1/projects/${project.id}`, { id: project.id, path: '/' });
    expect([deleted.status, ignoredIn(deleted)]).toEqual([200, 'id, path']);
    const login = { clientId: 'x', clientSecret: 'x', provider: 'x' };
    const refused = await admin.anonymous.post('/api/v1/auth/universal-auth/login', login);
    expect(refused).toBeError(401, 'CREDENTIALS_INVALID');
    expect(ignoredIn(refused)).toBe('provider');
  });

  test('called __proto__ or constructor is one like any other', async () => {
    const { admin } = await strongroom.seed.organization();
    const rawBody =
      '{"projectName":"Shop","__proto__":{"hasDeleteProtection":true},"constructor":{"prototype":{"slug":"x"}}}';
    const reply = await admin.request({ method: 'POST', path: PROJECTS, rawBody });
    expect([reply.status, ignoredIn(reply)]).toEqual([200, '__proto__, constructor']);
    expect(reply.body.project.hasDeleteProtection).toBe(false);
  });

  test('is refused in the permissions of a role, which would allow more without it', async () => {
    const { admin, project } = await strongroom.seed.project();
    const roles = `/api/v1/projects/${project.id}/roles`;
    const role = { slug: 'reader', name: 'Reader', extra: 1 };
    const send = (permission: object) =>
      admin.post(roles, { ...role, permissions: [{ subject: 'secrets', action: 'read', ...permission }] });
    expect(messagesIn(await send({ effect: 'deny' }))).toEqual(['body.permissions[0]: unknown field `effect`']);
    expect(messagesIn(await send({ conditions: { env: 'dev' } }))).toEqual([
      'body.permissions[0].conditions: unknown field `env`; must be environment or secretPath or secretName or secretTags or eventType on this subject',
    ]);
    expect(ignoredIn(await send({}))).toBe('extra');
  });
});

describe('with Prefer: handling=strict', () => {
  test('every unknown key is refused, and Preference-Applied says so', async () => {
    const { admin } = await strongroom.seed.organization();
    const reply = await admin.post(PROJECTS, { projectName: 'Shop', extra: 1, 'no name': 1 }, STRICT);
    expect(reply).toBeError(422, 'VALIDATION_FAILED');
    expect(messagesIn(reply)).toEqual([
      'body: unknown field `extra`',
      'body: unknown field (only identifiers of at most 40 characters are named)',
    ]);
    expect([reply.headers['preference-applied'], ignoredIn(reply)]).toEqual(['handling=strict', undefined]);
    expect((await admin.get('/api/v1/projects')).body.projects).toEqual([]);
  });

  test('a body of known keys passes', async () => {
    const { admin } = await strongroom.seed.organization();
    const reply = await admin.post(PROJECTS, { projectName: 'Shop' }, STRICT);
    expect([reply.status, reply.headers['preference-applied']]).toEqual([200, 'handling=strict']);
  });
});

describe('more than 20 unknown keys', () => {
  const extra = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`extra${at}`, 1]));

  test('of one body are refused, and only their number is told', async () => {
    const { admin } = await strongroom.seed.organization();
    const some = await admin.post(PROJECTS, { projectName: 'Shop', ...extra(20) });
    expect([some.status, ignoredIn(some)]).toEqual([200, Object.keys(extra(20)).join(', ')]);
    for (const headers of [{}, STRICT]) {
      const many = await admin.post(PROJECTS, { projectNmae: 'Shop', ...extra(20) }, headers);
      expect(many).toBeError(422, 'VALIDATION_FAILED');
      expect(messagesIn(many)).toEqual([
        'body: 21 unknown fields, including those in nested objects; at most 20 are ignored',
        'body.projectName: required',
      ]);
    }
  });
});

test('an unknown query parameter is refused by name', async () => {
  const reply = await strongroom.admin.get('/api/v1/projects?includeRole=true&page=2&a.b=1');
  expect(reply).toBeError(422, 'VALIDATION_FAILED');
  expect(messagesIn(reply)).toEqual([
    'query: unknown parameter `includeRole`; did you mean `includeRoles`?',
    expect.stringMatching(/^query: unknown parameter `page`/),
    'query: unknown parameter (only identifiers of at most 40 characters are named)',
  ]);
});

test('GraphQL refuses every unknown field, and names it', async () => {
  const { admin } = await strongroom.seed.organization();
  const document = 'mutation ($input: CreateProjectInput!) { createProject(input: $input) { project { id } } }';
  const reply = await admin.graphql(document, {
    input: { name: 'Shop', hasDeleteProtektion: true, extra: 1, 'no name': 1 },
  });
  expect(reply).toBeError(422, 'VALIDATION_FAILED');
  expect(messagesIn(reply)).toEqual([
    'input: unknown field `hasDeleteProtektion`; did you mean `hasDeleteProtection`?',
    'input: unknown field `extra`',
    'input: unknown field (only identifiers of at most 40 characters are named)',
  ]);
  const literal = await admin.graphql(
    'mutation { createProject(input: { name: "Shop", extra: 1 }) { project { id } } }',
  );
  expect(literal).toBeError(400, 'GRAPHQL_INVALID');
  expect(literal.body.errors[0].message).toMatch(/unknown field `extra` of input CreateProjectInput\.$/);
});

describe('null in a body', () => {
  test.each([
    'slug',
    'projectDescription',
    'kmsKeyId',
    'template',
    'type',
    'shouldCreateDefaultEnvs',
    'hasDeleteProtection',
  ])('for %s of a new project is refused', async (key) => {
    const { admin } = await strongroom.seed.organization();
    const paths = [PROJECTS, '/api/v1/projects'];
    for (const path of paths) {
      const reply = await admin.post(path, { projectName: 'Shop', [key]: null });
      expect(reply).toBeError(422, 'VALIDATION_FAILED');
      expect(reply.body.details.map((detail: { path: string }) => detail.path)).toEqual([`body.${key}`]);
    }
  });

  test.each(['name', 'organizationSlug'])('for %s of a new token is refused', async (key) => {
    const { admin } = await strongroom.seed.organization();
    const reply = await admin.post(`/api/v1/auth/token-auth/identities/${admin.identityId}/tokens`, { [key]: null });
    expect(reply).toBeError(422, 'VALIDATION_FAILED');
  });

  test('for the organization of a login is refused', async () => {
    const login = { clientId: 'x', clientSecret: 'x', organizationSlug: null };
    const reply = await strongroom.admin.anonymous.post('/api/v1/auth/universal-auth/login', login);
    expect(reply).toBeError(422, 'VALIDATION_FAILED');
  });

  test('stands for absent in GraphQL, whose schema allows it', async () => {
    const { admin } = await strongroom.seed.organization();
    const document = 'mutation ($input: CreateProjectInput!) { createProject(input: $input) { project { slug } } }';
    const data = await admin.data(document, { input: { name: 'Shop', slug: null, description: null } });
    expect(data.createProject.project.slug).toMatch(/^shop-/);
  });
});
