import { HeldRequest } from '../../kit/held-request.js';
import { exchange, firstReply } from '../../kit/raw.js';
import {
  type Reply,
  type SharedStrongroom,
  type Strongroom,
  useSharedStrongroom,
  useStrongroom,
} from '../../kit/strongroom.js';
import { until } from '../../kit/until.js';

const LISTED = 'https://app.example.com';
const OTHER_LISTED = 'http://localhost:3000';

/** As an installation may be that everybody reaches: behind a proxy, called by pages of other origins, and silent about its schema. */
const strongroom: Strongroom = useStrongroom({
  TRUSTED_PROXIES: '127.0.0.1, ::1',
  CORS_ORIGINS: `${LISTED}, ${OTHER_LISTED}`,
  INTROSPECTION: 'false',
  LOG_LEVEL: 'info',
});

const usual: SharedStrongroom = useSharedStrongroom();

const corsHeaders = ({ headers }: Reply): string[] =>
  Object.keys(headers).filter((name) => name.startsWith('access-control-'));
const preflight = (origin: string, method = 'POST') => ({
  origin,
  'access-control-request-method': method,
  'access-control-request-headers': 'authorization,content-type',
});

describe('with CORS_ORIGINS', () => {
  const ask = (path: string, headers: Record<string, string>) =>
    strongroom.admin.anonymous.request({ method: 'OPTIONS', path, headers });

  test.each([
    ['/graphql', 'GET, POST, HEAD, OPTIONS'],
    ['/api/v1/projects/4711', 'GET, HEAD, DELETE, PATCH, OPTIONS'],
  ])('a browser that asks for leave to call %s gets it, without a token', async (path, allow) => {
    const reply = await ask(path, preflight(LISTED));

    expect(reply).toMatchObject({ status: 204, text: '' });
    expect(reply.headers).toMatchObject({
      allow,
      'access-control-allow-origin': LISTED,
      'access-control-allow-headers': 'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Prefer',
      'access-control-max-age': '600',
      vary: 'Origin',
    });
    expect(`${reply.headers['access-control-allow-methods']}, OPTIONS`).toEqual(reply.headers.allow);
  });

  test('a path that is not there gives no leave, and the page may read why', async () => {
    const reply = await ask('/nope', preflight(LISTED));
    expect(reply).toBeError(404, 'ROUTE_NOT_FOUND');
    expect(reply.headers['access-control-allow-methods']).toBeUndefined();
    expect(reply.headers['access-control-allow-origin']).toBe(LISTED);
  });

  test('OPTIONS of somebody else tells the methods only', async () => {
    const reply = await ask('/graphql', { origin: LISTED });
    expect(reply).toMatchObject({ status: 204, headers: { allow: 'GET, POST, HEAD, OPTIONS' } });
    expect(reply.headers['access-control-allow-methods']).toBeUndefined();
  });

  test('every answer may be read, and names what of its headers may be', async () => {
    const { admin } = strongroom;
    const origin = { origin: OTHER_LISTED };
    const tag = String((await admin.get('/api/v1/projects')).headers.etag);
    const replies = [
      await admin.get('/api/v1/projects', origin),
      await admin.get('/api/v1/projects', { ...origin, 'if-none-match': tag }),
      await admin.anonymous.get('/api/v1/projects', origin),
      await admin.get('/nope', origin),
      await admin.get('/api/v1/projects/%ff', origin),
      await admin.put('/graphql', {}, origin),
      await admin.post('/graphql', {}, origin),
      await admin.post('/api/v2/workspace', {}, { ...origin, 'content-type': 'text/plain' }),
      await admin.post('/api/v2/workspace', {}, { ...origin, 'content-encoding': 'gzip' }),
      await admin.graphql('{ __typename }', {}, origin),
    ];

    expect(replies.map(({ status }) => status)).toEqual([200, 304, 401, 404, 400, 405, 400, 415, 400, 200]);
    for (const { headers } of replies) {
      expect(headers['access-control-allow-origin']).toBe(OTHER_LISTED);
      expect(headers['access-control-allow-credentials']).toBeUndefined();
      expect(headers.vary).toMatch(/^Origin(, Accept)?(, Accept-Encoding)?$/);
      const exposed = String(headers['access-control-expose-headers']).split(', ');
      expect(exposed).toEqual(
        expect.arrayContaining([
          ...['ETag', 'Retry-After', 'X-Request-Id', 'Idempotency-Replayed', 'RateLimit', 'RateLimit-Remaining'],
          ...['X-Unresolved-References', 'X-Unreadable-Values', 'X-Depth-Truncated'],
          ...['X-Ignored-Keys', 'Preference-Applied'],
        ]),
      );
    }
  });

  test.each([
    'https://other.example',
    'http://app.example.com',
    'https://app.example.com:8443',
    'https://app.example.com.evil.example',
    'https://evil-app.example.com',
    'HTTPS://APP.EXAMPLE.COM',
    'null',
    '*',
    '',
    `${LISTED}, ${OTHER_LISTED}`,
  ])('the origin %j gets nothing but that answers vary', async (origin) => {
    for (const reply of [
      await strongroom.admin.get('/api/v1/projects', { origin }),
      await ask('/graphql', preflight(origin)),
    ]) {
      expect(corsHeaders(reply)).toEqual([]);
      expect(reply.headers.vary).toMatch(/^Origin/);
    }
  });

  test('a request of two origins is none', async () => {
    const lines = ['GET /livez HTTP/1.1', 'Host: x', 'Connection: close', `Origin: ${LISTED}`, 'Origin: null', '', ''];
    expect(firstReply(await exchange(strongroom.url, lines.join('\r\n')))).toBeError(400, 'MALFORMED_REQUEST');
  });
});

describe('without CORS_ORIGINS', () => {
  test('no answer has a header of CORS', async () => {
    const { admin } = usual;
    const asked = await admin.request({ method: 'OPTIONS', path: '/graphql', headers: preflight(LISTED) });
    for (const reply of [await admin.get('/livez', { origin: LISTED }), asked]) {
      expect(corsHeaders(reply)).toEqual([]);
      expect(reply.headers.vary ?? '').not.toContain('Origin');
    }
    expect(asked).toMatchObject({ status: 204, headers: { allow: 'GET, POST, HEAD, OPTIONS' } });
  });
});

/** What anybody may keep told a cache by its own `Vary` only, over that of CORS: one origin got the answer for another. */
describe('what is public, where pages of other origins may call the service', () => {
  test.each<[string, string, string[]]>([
    ['/', 'text/html', ['Origin', 'Accept', 'Accept-Encoding']],
    ['/', 'application/json', ['Origin', 'Accept', 'Accept-Encoding']],
    ['/docs', '*/*', ['Origin', 'Accept-Encoding']],
    ['/openapi.json', '*/*', ['Origin', 'Accept-Encoding']],
    ['/assets/explorer.js', '*/*', ['Origin', 'Accept-Encoding']],
    ['/graphql', 'text/html', ['Origin', 'Accept', 'Accept-Encoding']],
  ])('%s as %s says all that it depends on, once', async (path, accept, names) => {
    for (const origin of ['https://app.example.com', 'https://other.example.com']) {
      const { status, headers } = await strongroom.admin.anonymous.get(path, { accept, origin });
      expect([status, headers['cache-control']]).toEqual([200, 'public, no-cache']);
      expect(String(headers.vary).split(', ').sort()).toEqual([...names].sort());
    }
  });
});

describe('behind a trusted proxy', () => {
  const from = (forwarded: string) => strongroom.admin.get('/api/v1/projects', { 'x-forwarded-for': forwarded });

  test.each([
    ['203.0.113.7', '203.0.113.7'],
    ['203.0.113.7:4711', '203.0.113.7'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['nope, 203.0.113.7', '203.0.113.7'],
    ['203.0.113.7, 127.0.0.1', '203.0.113.7'],
    ['', '127.0.0.1'],
  ])('the caller of an X-Forwarded-For of %j is %s', async (forwarded, address) => {
    const { status, headers } = await from(forwarded);

    expect(status).toBe(200);
    expect(await strongroom.auditRows('request_id = $1', [headers['x-request-id']])).toMatchObject([{ address }]);
  });

  test.each(['unknown', '_hidden', '203.0.113.7, nope', '10.1', 'x'.repeat(500)])(
    'a caller of no known address, %j, is in no trusted network',
    async (forwarded) => expect(await from(forwarded)).toBeError(401, 'TOKEN_ADDRESS_REFUSED'),
  );
});

describe('the page of metrics behind a trusted proxy', () => {
  test('is not there for a request of which that proxy does not tell whose it is', async () => {
    const untold: Record<string, string>[] = [{ 'x-real-ip': '10.1.2.3' }, { via: '1.1 cache' }];
    for (const headers of untold)
      expect(await strongroom.admin.anonymous.get('/metrics', headers)).toBeError(404, 'ROUTE_NOT_FOUND');
    const reported = { 'x-forwarded-for': '10.1.2.3', via: '1.1 cache', 'x-real-ip': '10.1.2.3' };
    expect((await strongroom.admin.anonymous.get('/metrics', reported)).status).toBe(200);
  });

  test.each([
    ['10.1.2.3', 200],
    ['192.168.0.7', 200],
    ['fd00::1', 200],
    ['8.8.8.8', 404],
    ['2001:4860:4860::8888', 404],
    ['nonsense', 404],
  ])('answers %s with %d', async (address, status) => {
    const reply = await strongroom.admin.anonymous.get('/metrics', { 'x-forwarded-for': address });
    expect(reply.status).toBe(status);
  });
});

describe('a request without a token behind a trusted proxy', () => {
  const opened: HeldRequest[] = [];
  const open = async (sent: Parameters<typeof HeldRequest.open>[1]): Promise<HeldRequest> => {
    const request = await HeldRequest.open(strongroom.url, sent);
    opened.push(request);
    return request;
  };
  afterAll(() => {
    for (const request of opened) request.close();
  });
  const LOGIN = '/api/v1/auth/universal-auth/login';
  const KIB = 1024;
  const padded = (bytes: number): string => `{}${' '.repeat(bytes - 2)}`;

  test('holds no more than 1 MiB of unfinished bodies for an address of a client', async () => {
    const hold = (address: string) =>
      open({ path: LOGIN, body: padded(16 * KIB), keep: 1, headers: { 'x-forwarded-for': address } });
    const held = await Promise.all(Array.from({ length: 70 }, () => hold('203.0.113.7')));
    const early: (Reply | null)[] = [];
    for (const { reply } of held) void reply.then((each) => early.push(each));
    await until('six refusals', 20_000, () => early.length >= 6);
    const other = await hold('203.0.113.8');
    other.finish();
    expect(await other.reply).toBeError(422, 'VALIDATION_FAILED');
    const proxys = await open({ path: LOGIN, body: padded(16 * KIB), keep: 1 });
    proxys.finish();
    expect(await proxys.reply).toBeError(422, 'VALIDATION_FAILED');
    // Somebody else behind that address may still log in.
    const login = await open({
      path: LOGIN,
      body: padded(2 * KIB),
      keep: 0,
      headers: { 'x-forwarded-for': '203.0.113.7' },
    });
    expect(await login.reply).toBeError(422, 'VALIDATION_FAILED');
    for (const request of held) request.finish();
    const all = await Promise.all(held.map(({ reply }) => reply));
    expect(all.filter((reply) => reply?.status === 422)).toHaveLength(64);
    for (const refused of all.filter((reply) => reply?.status !== 422)) {
      expect(refused).toBeError(503, 'OVERLOADED');
      expect(refused?.headers['retry-after']).toBe('1');
    }
    const later = await hold('203.0.113.7');
    later.finish();
    expect(await later.reply).toBeError(422, 'VALIDATION_FAILED');
  });
});

describe('without introspection', () => {
  const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

  test('the explorer says so, and the schema stays untold', async () => {
    const { text } = await strongroom.admin.anonymous.get('/graphql', BROWSER);
    expect(text).toContain('INTROSPECTION=false');
    expect(await strongroom.admin.graphql('{ __schema { queryType { name } } }')).toBeError(400, 'GRAPHQL_INVALID');
    expect((await usual.admin.anonymous.get('/graphql', BROWSER)).text).not.toContain('INTROSPECTION=false');
    expect(await strongroom.admin.graphql('{ _service { sdl } }')).toBeError(400, 'GRAPHQL_INVALID');
    expect(await strongroom.admin.get('/schema.graphql')).toBeError(404, 'ROUTE_NOT_FOUND');
    for (const path of ['/', '/no/such/page'])
      expect((await strongroom.admin.anonymous.get(path, BROWSER)).text).not.toContain('schema.graphql');
  });

  test('no name of the schema is told', async () => {
    const create = 'mutation ($mine: CreateSecretsInput!) { createSecrets(input: $mine) { secrets { id } } }';
    const messagesIn = ({ body }: Reply): string[] => body.errors.map(({ message }: { message: string }) => message);
    const field = await strongroom.admin.graphql('{ projcts { nodes { id } } }');
    expect(messagesIn(field)).toEqual([expect.stringMatching(/column \d+: unknown field `projcts`\.$/)]);
    const braces = await strongroom.admin.graphql('{ project(id: "x") { name { a } certificateAlerts } }');
    expect(messagesIn(braces)).toEqual([
      expect.stringMatching(/column \d+: the field `name` has no subfields; remove the braces\.$/),
      expect.stringMatching(/column \d+: the field `certificateAlerts` needs a selection of subfields, in braces\.$/),
    ]);
    const variable = await strongroom.admin.graphql(create, {
      mine: { projectId: 'x', environment: 'dev', secrets: [], secretsPath: '/' },
    });
    const { details } = variable.body.errors[0].extensions;
    expect(details.map(({ path, code }: Record<string, string>) => `${path} ${code}`)).toEqual(['input UNKNOWN_KEY']);
    expect(variable.text).toContain('unknown field `secretsPath`"');
    expect(variable.text).not.toContain('secretPath`');
    const all = await strongroom.admin.graphql('{ __schema { types { name } } }');
    expect(messagesIn(all)).toContainEqual(expect.stringMatching(/: introspection is disabled\.$/));
  });
});

test('the log at its usual level has no line for a request that was answered', async () => {
  const { headers } = await strongroom.admin.get('/api/v1/projects');
  expect(headers['x-request-id']).toBeDefined();
  expect(await strongroom.log()).not.toContain('request completed');
});
