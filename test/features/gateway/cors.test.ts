import type { Reply } from '../../kit/caller.js';
import { exchange, firstReply } from '../../kit/raw.js';
import { type SharedStrongroom, type Strongroom, useSharedStrongroom, useStrongroom } from '../../kit/strongroom.js';

const LISTED = 'https://app.example.com';
const OTHER_LISTED = 'http://localhost:3000';

const corsHeaders = ({ headers }: Reply): string[] =>
  Object.keys(headers).filter((name) => name.startsWith('access-control-'));
const preflight = (origin: string, method = 'POST') => ({
  origin,
  'access-control-request-method': method,
  'access-control-request-headers': 'authorization,content-type',
});

describe('with CORS_ORIGINS', () => {
  const strongroom: Strongroom = useStrongroom({ CORS_ORIGINS: `${LISTED}, ${OTHER_LISTED}` });
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
  const strongroom: SharedStrongroom = useSharedStrongroom();

  test('no answer has a header of CORS', async () => {
    const { admin } = strongroom;
    const asked = await admin.request({ method: 'OPTIONS', path: '/graphql', headers: preflight(LISTED) });
    for (const reply of [await admin.get('/livez', { origin: LISTED }), asked]) {
      expect(corsHeaders(reply)).toEqual([]);
      expect(reply.headers.vary ?? '').not.toContain('Origin');
    }
    expect(asked).toMatchObject({ status: 204, headers: { allow: 'GET, POST, HEAD, OPTIONS' } });
  });
});
