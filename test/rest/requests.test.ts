import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { AnyContext } from '../../src/kernel/context.js';
import { AppError } from '../../src/kernel/errors.js';
import type { Log } from '../../src/kernel/log.js';
import { compileRoutes } from '../../src/rest/compile.js';
import { mountRoutes } from '../../src/rest/mount.js';
import { BOX, emptyServer, ROUTES, schemaOf, unkept } from './boxes.js';

/** The 422 details of a reply, as `path code`, sorted. */
const violationsIn = ({ details }: { details: { path: string; code: string }[] }): string[] =>
  details.map(({ path }) => path).sort();

describe('a mounted route', () => {
  const received: Record<string, unknown>[] = [];
  let app: FastifyInstance;
  let url: string;

  beforeAll(async () => {
    const log = { info() {}, warn() {}, error() {}, debug() {} } as unknown as Log;
    app = await emptyServer(log);
    const contextFor = async (request: FastifyRequest): Promise<AnyContext> => {
      const token = request.headers.authorization;
      if (token !== undefined && token !== 'Bearer good') throw new AppError('TOKEN_INVALID');
      const actor = token === undefined ? null : { kind: 'system', id: 'a', name: 'a' };
      return { requestId: request.id, actor } as unknown as AnyContext;
    };
    mountRoutes(app, compileRoutes(schemaOf(received), ROUTES), { contextFor, ...unkept() });
    url = await app.listen({ host: '127.0.0.1', port: 0 });
  });
  afterAll(() => app.close());
  beforeEach(() => void received.splice(0));

  const send = async (method: string, path: string, options: { body?: unknown; headers?: object } = {}) => {
    const { body, headers } = options;
    const reply = await fetch(`${url}${path}`, {
      method,
      headers: {
        authorization: 'Bearer good',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await reply.text();
    return { status: reply.status, headers: reply.headers, text, body: text === '' ? null : JSON.parse(text) };
  };

  test('answers 200 with what its reply made of the data, and its headers', async () => {
    const reply = await send('GET', '/api/v1/boxes/b7');
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({ box: { ...BOX, id: 'b7', _id: 'b7' } });
    expect(reply.headers.get('x-box')).toBe('b7');
    expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(reply.headers.get('cache-control')).toBe('private, no-cache');
  });

  test('asks its lookup first, where the request names what has to be found', async () => {
    expect((await send('GET', '/api/v1/crates?id=b7')).body).toEqual({ box: { id: 'b7' } });
    expect((await send('GET', '/api/v1/crates?nickname=red')).body).toEqual({ box: { id: 's1' } });
    const gone = await send('GET', '/api/v1/crates?nickname=gone');
    expect([gone.status, gone.body.code]).toEqual([404, 'PROJECT_NOT_FOUND']);
  });

  test('says no-store when it is sensitive', async () => {
    expect((await send('POST', '/api/v1/boxes', { body: {} })).headers.get('cache-control')).toBe('no-store');
  });

  test('takes the words of the interface for enums, at any depth, and gives them back', async () => {
    const items = [{ size: 'large' }, { size: 'extra-small', note: 'n' }];
    const reply = await send('POST', '/api/v1/boxes', { body: { size: 'extra-small', items } });
    expect(reply.status).toBe(200);
    expect(JSON.parse(reply.body.received).input).toMatchObject({ size: 'extra-small', items });
    expect(reply.body.box.size).toBe('extra-small');
    await send('GET', '/api/v1/boxes?size=extra-small&shut=true');
    expect(received.at(-1)).toMatchObject({ size: 'extra-small', shut: true });
  });

  test('keeps absent apart from null, and lets the defaults of the schema stand', async () => {
    const absent = JSON.parse((await send('POST', '/api/v1/boxes', { body: {} })).body.received).input;
    expect(absent).toEqual({ size: 'large', kind: 'plain' });
    const cleared = JSON.parse((await send('POST', '/api/v1/boxes', { body: { label: null } })).body.received).input;
    expect(cleared).toEqual({ size: 'large', kind: 'plain', label: null });
  });

  test('needs no body when every key is optional', async () => {
    expect((await send('POST', '/api/v1/boxes')).status).toBe(200);
    expect((await send('POST', '/api/v1/boxes', { body: 'null' })).status).toBe(422);
    expect((await send('POST', '/api/v1/boxes', { body: [] })).status).toBe(422);
  });

  test('knows no key of a body where it has no rules for one', async () => {
    expect((await send('POST', '/api/v1/open')).status).toBe(200);
    const reply = await send('POST', '/api/v1/open', { body: { a: 1 } });
    expect([reply.status, reply.body.code, violationsIn(reply.body)]).toEqual([422, 'VALIDATION_FAILED', ['body']]);
    expect((await send('POST', '/api/v1/open', { body: [] })).status).toBe(422);
  });

  test('tells every fault of query and body at once, where it stands, and nothing of what was sent', async () => {
    const body = {
      label: 'canary-value-123',
      size: 'canary-size',
      cuont: 1,
      extra: 'canary-extra',
      'canary key': 2,
      items: [
        { size: 'large', note: 'canary-note' },
        { size: 5, no_te: 'canary-hue' },
      ],
    };
    const reply = await send('POST', '/api/v1/boxes?nope=canary-query', { body });
    expect(reply.status).toBe(422);
    expect(violationsIn(reply.body)).toEqual([
      ...['body', 'body', 'body'],
      'body.items[0].note',
      'body.items[1]',
      'body.items[1].size',
      'body.label',
      'body.size',
      'query',
    ]);
    expect(reply.text).not.toContain('canary');
    for (const detail of reply.body.details)
      expect(detail).toEqual({
        path: expect.any(String),
        code: expect.stringMatching(/^[A-Z_]+$/),
        message: expect.any(String),
      });
  });

  test('says what is missing, and coerces nothing', async () => {
    const reply = await send('POST', '/api/v1/boxes', { body: { items: [{}], count: '1' } });
    expect(violationsIn(reply.body)).toEqual(['body.count', 'body.items[0].size']);
    expect(JSON.stringify(reply.body.details)).toMatch(/given|required/);
  });

  test('refuses a number that the schema cannot hold with 422, without repeating it', async () => {
    const reply = await send('POST', '/api/v1/boxes', { body: { count: 3_000_000_123 } });
    expect([reply.status, reply.body.code]).toEqual([422, 'VALIDATION_FAILED']);
    expect(reply.text).not.toContain('3000000123');
  });

  test('refuses a repeated parameter by name, together with the other faults', async () => {
    const reply = await send('GET', '/api/v1/boxes?shut=true&shut=false&nope=1&limit=0');
    expect(reply.status).toBe(422);
    expect(violationsIn(reply.body)).toEqual(['query', 'query.limit', 'query.shut']);
  });

  test.each([
    'limit=1001',
    'limit=1.5',
    'limit=',
    'limit=1e2',
    'limit=-1',
    'shut=TRUE',
    'shut=1',
    'shut=',
    'size=LARGE',
  ])('refuses ?%s', async (query) => {
    expect((await send('GET', `/api/v1/boxes?${query}`)).status).toBe(422);
  });

  test('takes the bounds of a page', async () => {
    expect((await send('GET', '/api/v1/boxes?limit=1')).status).toBe(200);
    expect((await send('GET', '/api/v1/boxes?limit=1000')).status).toBe(200);
    expect(received.map(({ first }) => first)).toEqual([1, 1000]);
  });

  test('checks the token before the shape of the request, and before it reads the body', async () => {
    const unknown = await send('GET', '/api/v1/boxes?nope=1', { headers: { authorization: 'Bearer bad' } });
    expect([unknown.status, unknown.body.code]).toEqual([401, 'TOKEN_INVALID']);
    const broken = await fetch(`${url}/api/v1/boxes`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{',
    });
    expect([broken.status, ((await broken.json()) as { code: string }).code]).toEqual([401, 'TOKEN_MISSING']);
    expect((await send('POST', '/api/v1/boxes', { body: '{' })).body.code).toBe('MALFORMED_JSON');
  });

  test('answers without a token where it says so', async () => {
    expect((await fetch(`${url}/api/v1/open`, { method: 'POST' })).status).toBe(200);
  });

  test('passes on the coded error of a resolver, and hides and reports any other', async () => {
    const gone = await send('GET', '/api/v1/boxes/gone');
    expect([gone.status, gone.body.code, gone.body.reqId]).toEqual([
      404,
      'PROJECT_NOT_FOUND',
      gone.headers.get('x-request-id'),
    ]);
    const broken = await send('GET', '/api/v1/boxes/broken');
    expect([broken.status, broken.body.code]).toEqual([500, 'INTERNAL']);
    expect(broken.text).not.toContain('canary');
  });

  test('carries a strong ETag, and answers 304 to whoever has it', async () => {
    const first = await send('GET', '/api/v1/boxes/b1');
    const etag = first.headers.get('etag') as string;
    expect(etag).toMatch(/^"[\w-]{43}"$/);
    for (const header of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await send('GET', '/api/v1/boxes/b1', { headers: { 'if-none-match': header } });
      expect([header, again.status, again.text, again.headers.get('etag')]).toEqual([header, 304, '', etag]);
    }
    for (const header of ['"other"', etag.slice(1, -1)]) {
      expect((await send('GET', '/api/v1/boxes/b1', { headers: { 'if-none-match': header } })).status).toBe(200);
    }
    const stranger = { 'if-none-match': etag, authorization: 'Bearer bad' };
    expect((await send('GET', '/api/v1/boxes/b1', { headers: stranger })).status).toBe(401);
    const missing = await send('GET', '/api/v1/boxes/gone', { headers: { 'if-none-match': '*' } });
    expect(missing.status).toBe(404);
  });

  test('answers HEAD as GET, without the body', async () => {
    const get = await send('GET', '/api/v1/boxes/b1');
    const head = await send('HEAD', '/api/v1/boxes/b1');
    expect([head.status, head.text]).toEqual([200, '']);
    for (const name of ['etag', 'content-length', 'content-type', 'cache-control'])
      expect([name, head.headers.get(name)]).toEqual([name, get.headers.get(name)]);
    const unchanged = { 'if-none-match': get.headers.get('etag') };
    expect((await send('HEAD', '/api/v1/boxes/b1', { headers: unchanged })).status).toBe(304);
    const stranger = { authorization: 'Bearer bad' };
    expect((await send('HEAD', '/api/v1/boxes/b1', { headers: stranger })).status).toBe(401);
  });

  test('answers OPTIONS with 204 and what is allowed', async () => {
    const reply = await send('OPTIONS', '/api/v1/boxes', { headers: { authorization: '' } });
    expect([reply.status, reply.text, allowed(reply)]).toEqual([204, '', ['GET', 'HEAD', 'OPTIONS', 'POST']]);
  });

  test('refuses another method with 405 and what is allowed, before it reads a body', async () => {
    for (const options of [{}, { body: '{' }]) {
      const reply = await send('PUT', '/api/v1/boxes', options);
      expect([reply.status, reply.body.code, allowed(reply)]).toEqual([
        405,
        'METHOD_NOT_ALLOWED',
        ['GET', 'HEAD', 'OPTIONS', 'POST'],
      ]);
    }
  });

  test('does not hide a parameter behind a fixed path of another method', async () => {
    expect((await send('GET', '/api/v1/boxes/archive')).body.box.id).toBe('archive');
    const reply = await send('POST', '/api/v1/boxes/archive');
    expect([reply.status, allowed(reply)]).toEqual([405, ['DELETE', 'GET', 'HEAD', 'OPTIONS']]);
  });

  const allowed = ({ headers }: { headers: Headers }): string[] => (headers.get('allow') ?? '').split(', ').sort();
});
