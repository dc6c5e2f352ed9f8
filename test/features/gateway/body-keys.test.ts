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

describe('a key of a body that the route does not declare', () => {
  test('is refused with 422, naming the one that it resembles, and nothing is made', async () => {
    const { admin } = await strongroom.seed.organization();
    const reply = await admin.post(PROJECTS, { projectNmae: 'Shop', has_delete_protection: true });
    expect(reply).toBeError(422, 'VALIDATION_FAILED');
    expect(messagesIn(reply)).toEqual([
      'body.projectName: required',
      'body: unknown field `projectNmae`; did you mean `projectName`?',
      'body: unknown field `has_delete_protection`; did you mean `hasDeleteProtection`?',
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
      'body.secrets[1].secretMetadata[0]: unknown field `isEncrypte`; did you mean `isEncrypted`?',
      'body.secrets[1]: unknown field `secretVlaue`; did you mean `secretValue`?',
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

describe('a key of a body that resembles nothing', () => {
  test('is refused like any other, with every violation at once', async () => {
    const { admin } = await strongroom.seed.organization();
    const sent = { ID: 1, colour: { projectName: 'x' }, 'no name': 1, [`x${'y'.repeat(40)}`]: 1, slug: 1 };
    const reply = await admin.post(PROJECTS, sent);
    expect(reply).toBeError(422, 'VALIDATION_FAILED');
    const UNNAMED = 'body: unknown field (only identifiers of at most 40 characters are named)';
    expect(messagesIn(reply)).toEqual([
      'body.projectName: required',
      'body.slug: must be a string',
      'body: unknown field `ID`',
      'body: unknown field `colour`',
      UNNAMED,
      UNNAMED,
    ]);
    expect([ignoredIn(reply), reply.headers['preference-applied']]).toEqual([undefined, undefined]);
    expect((await admin.get('/api/v1/projects')).body.projects).toEqual([]);
  });

  test('is refused where the operation takes no body, and before a login', async () => {
    const { admin, project } = await strongroom.seed.project();
    const path = `/api/v1/projects/${project.id}`;
    expect(messagesIn(await admin.delete(path, { path: '/' }))).toEqual(['body: unknown field `path`']);
    expect((await admin.get(path)).status).toBe(200);
    const login = { clientId: 'x', clientSecret: 'x', provider: 'x' };
    const refused = await admin.anonymous.post('/api/v1/auth/universal-auth/login', login);
    expect(refused).toBeError(422, 'VALIDATION_FAILED');
  });

  test('called __proto__ or constructor is one like any other', async () => {
    const { admin } = await strongroom.seed.organization();
    const rawBody =
      '{"projectName":"Shop","__proto__":{"hasDeleteProtection":true},"constructor":{"prototype":{"slug":"x"}}}';
    const reply = await admin.request({ method: 'POST', path: PROJECTS, rawBody });
    expect(messagesIn(reply)).toEqual(['body: unknown field `__proto__`', 'body: unknown field `constructor`']);
    const { project } = (await admin.post(PROJECTS, { projectName: 'Shop' })).body;
    expect(project.hasDeleteProtection).toBe(false);
  });

  test('is refused in the permissions of a role, with the fields that it may have', async () => {
    const { admin, project } = await strongroom.seed.project();
    const roles = `/api/v1/projects/${project.id}/roles`;
    const role = { slug: 'reader', name: 'Reader' };
    const send = (permission: object) =>
      admin.post(roles, { ...role, permissions: [{ subject: 'secrets', action: 'read', ...permission }] });
    expect(messagesIn(await send({ effect: 'deny' }))).toEqual(['body.permissions[0]: unknown field `effect`']);
    expect(messagesIn(await send({ conditions: { env: 'dev' } }))).toEqual([
      'body.permissions[0].conditions: unknown field `env`; must be environment or secretPath or secretName or secretTags or eventType on this subject',
    ]);
    expect((await send({})).status).toBe(200);
  });
});

describe('a field that says how long or how protected', () => {
  test.each([
    ['lockoutEnabled', true],
    ['lockoutThreshold', 3],
    ['accessTokenPeriod', 3_600],
  ])('and that is not offered, %s of universal auth, is refused', async (name, value) => {
    const { admin } = await strongroom.seed.organization();
    const { identityId } = await strongroom.seed.caller(admin);
    const path = `/api/v1/auth/universal-auth/identities/${identityId}`;
    expect(messagesIn(await admin.post(path, { [name]: value }))).toEqual([
      expect.stringContaining(`body: unknown field \`${name}\``),
    ]);
    expect((await admin.post(path, {})).status).toBe(200);
    expect(messagesIn(await admin.patch(path, { [name]: value }))).toHaveLength(1);
  });
});

describe('a field that repeats a parameter of the path', () => {
  test('is let by and listed, and refused if it differs', async () => {
    const { admin, project } = await strongroom.seed.project();
    const other = await strongroom.seed.projectOf(admin);
    const path = `/api/v1/projects/${project.id}`;
    const reply = await admin.patch(path, { projectId: project.id.toUpperCase(), name: 'Store' });
    expect([reply.status, ignoredIn(reply)]).toEqual([200, 'projectId']);
    const refused = await admin.patch(path, { projectId: other.id, name: 'Mart', extra: 1 });
    expect(refused).toBeError(422, 'VALIDATION_FAILED');
    expect(messagesIn(refused)).toEqual([
      'body.projectId: must be the same as in the path, or absent',
      'body: unknown field `extra`',
    ]);
    expect([(await admin.get(path)).body.project.name, ignoredIn(refused)]).toEqual(['Store', undefined]);
    expect(await admin.delete(path, { projectId: other.id })).toBeError(422, 'VALIDATION_FAILED');
    expect((await admin.delete(path, { projectId: project.id })).status).toBe(200);
  });

  test('may have another name on a route that declares it', async () => {
    const { admin } = await strongroom.seed.organization();
    const group = { name: 'Team', slug: 'team', role: 'member' };
    const { id } = (await admin.post('/api/v1/groups', group)).body;
    const change = (ID: string) => admin.patch(`/api/v1/groups/${id}`, { ID, name: 'Crew' });
    expect(messagesIn(await change(admin.identityId))).toEqual(['body.ID: must be the same as in the path, or absent']);
    const changed = await change(id);
    expect([changed.status, changed.body.name, ignoredIn(changed)]).toEqual([200, 'Crew', 'ID']);
  });
});

describe('a field that a route declares as harmless', () => {
  const tag = { slug: 'db', name: 'Database', color: '#aa0000' };

  test('is ignored and listed, also beside an error that comes later', async () => {
    const { admin, project } = await strongroom.seed.project();
    const path = `/api/v1/workspace/${project.id}/tags`;
    const made = await admin.post(path, tag);
    expect([made.status, ignoredIn(made)]).toEqual([200, 'name']);
    const taken = await admin.post(path, tag);
    expect(taken).toBeError(409, 'TAG_SLUG_TAKEN');
    expect(ignoredIn(taken)).toBe('name');
  });

  test('does not make another request of one that is sent again with its idempotency key', async () => {
    const { admin, project } = await strongroom.seed.project();
    const path = `/api/v1/workspace/${project.id}/tags`;
    const key = { 'idempotency-key': 'once' };
    const first = await admin.post(path, tag, key);
    const { name: _, ...unnamed } = tag;
    const second = await admin.post(path, unnamed, key);
    expect([second.body.workspaceTag?.id, ignoredIn(first), ignoredIn(second)]).toEqual([
      first.body.workspaceTag.id,
      'name',
      undefined,
    ]);
  });

  test('is refused with Prefer: handling=strict, and Preference-Applied says so', async () => {
    const { admin, project } = await strongroom.seed.project();
    const path = `/api/v1/workspace/${project.id}/tags`;
    const reply = await admin.post(path, { ...tag, projectId: project.id }, STRICT);
    expect(reply).toBeError(422, 'VALIDATION_FAILED');
    expect(messagesIn(reply)).toEqual(['body: unknown field `name`', 'body: unknown field `projectId`']);
    expect([reply.headers['preference-applied'], ignoredIn(reply)]).toEqual(['handling=strict', undefined]);
    const { name: _, ...known } = tag;
    const made = await admin.post(path, known, STRICT);
    expect([made.status, made.headers['preference-applied']]).toEqual([200, 'handling=strict']);
  });

  test('stands in the API reference', async () => {
    const { body } = await strongroom.admin.get('/openapi.json');
    const { post, patch } = body.paths['/api/v1/workspace/{projectId}/tags'] ?? {};
    expect([post['x-ignored-fields'], patch]).toEqual([['name'], undefined]);
  });
});

test('of more than 20 unknown keys only their number is told', async () => {
  const { admin } = await strongroom.seed.organization();
  const extra = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`extra${at}`, 1]));
  const some = await admin.post(PROJECTS, { projectName: 'Shop', ...extra(20) });
  expect(some).toBeError(422, 'VALIDATION_FAILED');
  expect(messagesIn(some)).toHaveLength(20);
  const many = await admin.post(PROJECTS, { projectNmae: 'Shop', ...extra(20) });
  expect(many).toBeError(422, 'VALIDATION_FAILED');
  expect(messagesIn(many)).toEqual([
    'body: 21 unknown fields, including those in nested objects',
    'body.projectName: required',
  ]);
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
