import { exchange, firstReply, rawRequest } from '../../kit/raw.js';
import { type Reply, type SharedStrongroom, useSharedStrongroom } from '../../kit/strongroom.js';

const strongroom: SharedStrongroom = useSharedStrongroom();
const send = (lines: readonly string[], body?: string): Promise<string> =>
  exchange(strongroom.url, rawRequest(lines, body));
const answer = async (...lines: string[]) => firstReply(await send(lines));
const COMMON = ['Host: x', 'Connection: close'];

describe('a request target', () => {
  test.each([
    ['http://other.example/livez', 'an address of the whole'],
    ['HTTP://other.example:80/livez?x=1', 'an address of the whole, with a query'],
    ['/livez/', 'a slash at the end'],
    ['/livez?x=%zz', 'a query of no meaning'],
    ['/livez#x', 'a fragment'],
  ])('%s, with %#, is the path in it', async (target) => {
    expect(await answer(`GET ${target} HTTP/1.1`, ...COMMON)).toMatchObject({ status: 200, body: { status: 'ok' } });
    expect(await answer(`PUT ${target} HTTP/1.1`, ...COMMON)).toBeError(405, 'METHOD_NOT_ALLOWED');
  });

  test.each([
    ['//livez', 404, 'ROUTE_NOT_FOUND'],
    ['/livez%00', 404, 'ROUTE_NOT_FOUND'],
    ['/api%2fstatus', 404, 'ROUTE_NOT_FOUND'],
    ['/api/../livez', 404, 'ROUTE_NOT_FOUND'],
    ['/api\\status', 404, 'ROUTE_NOT_FOUND'],
    ['/livez;a=b', 404, 'ROUTE_NOT_FOUND'],
    ['/LIVEZ', 404, 'ROUTE_NOT_FOUND'],
    [`/${'x'.repeat(9_000)}`, 404, 'ROUTE_NOT_FOUND'],
    ['http://other.example/none', 404, 'ROUTE_NOT_FOUND'],
    ['ftp://other.example/livez', 404, 'ROUTE_NOT_FOUND'],
    ['*', 400, 'MALFORMED_REQUEST'],
    ['/%', 400, 'MALFORMED_REQUEST'],
    ['/%c0%af', 400, 'MALFORMED_REQUEST'],
    ['/\xe9', 400, 'MALFORMED_REQUEST'],
    ['livez', 400, 'MALFORMED_REQUEST'],
    [`/${'x'.repeat(66_000)}`, 431, 'HEADERS_TOO_LARGE'],
    [`/livez?${'x'.repeat(66_000)}`, 431, 'HEADERS_TOO_LARGE'],
  ])('%s is answered %i %s', async (target, status, code) => {
    expect(await answer(`GET ${target} HTTP/1.1`, ...COMMON)).toBeError(status, code);
  });
});

describe('a request', () => {
  test.each<[string, string[], number, string]>([
    ['of two lengths', ['POST /graphql HTTP/1.1', 'Content-Length: 1', 'Content-Length: 2'], 400, 'MALFORMED_REQUEST'],
    [
      'of a length and in chunks',
      ['POST /graphql HTTP/1.1', 'Content-Length: 5', 'Transfer-Encoding: chunked'],
      400,
      'MALFORMED_REQUEST',
    ],
    ['of no length that is a number', ['POST /graphql HTTP/1.1', 'Content-Length: -1'], 400, 'MALFORMED_REQUEST'],
    ['of two hosts', ['GET /livez HTTP/1.1', 'Host: y'], 400, 'MALFORMED_REQUEST'],
    ['of two tokens', ['GET /livez HTTP/1.1', 'Authorization: a', 'Authorization: b'], 400, 'MALFORMED_REQUEST'],
    ['of a header over two lines', ['GET /livez HTTP/1.1', 'X-A: a', ' b'], 400, 'MALFORMED_REQUEST'],
    ['of a header with a control character', ['GET /livez HTTP/1.1', 'X-A: a\x01b'], 400, 'MALFORMED_REQUEST'],
    ['of a blank before the colon', ['GET /livez HTTP/1.1', 'X-A : a'], 400, 'MALFORMED_REQUEST'],
    ['of HTTP/2', ['PRI * HTTP/2.0'], 400, 'MALFORMED_REQUEST'],
    ['of HTTP/0.9', ['GET /livez'], 400, 'MALFORMED_REQUEST'],
    ['of a method that is none', ['BREW /livez HTTP/1.1'], 400, 'MALFORMED_REQUEST'],
    ['to trace', ['TRACE /livez HTTP/1.1'], 405, 'METHOD_NOT_ALLOWED'],
    ['of WebDAV', ['PROPFIND /livez HTTP/1.1'], 405, 'METHOD_NOT_ALLOWED'],
    ['to open a tunnel', ['CONNECT other.example:443 HTTP/1.1'], 400, 'MALFORMED_REQUEST'],
    ['of 101 headers', ['GET /livez HTTP/1.1', ...Array(99).fill('a:')], 431, 'HEADERS_TOO_LARGE'],
    ['of thousands of headers', ['GET /livez HTTP/1.1', ...Array(4_000).fill('a:')], 431, 'HEADERS_TOO_LARGE'],
    ['of 65 KiB of headers', ['GET /livez HTTP/1.1', `X-A: ${'a'.repeat(66_000)}`], 431, 'HEADERS_TOO_LARGE'],
  ])('%s is refused', async (_, [first = '', ...lines], status, code) => {
    expect(await answer(first, ...COMMON, ...lines)).toBeError(status, code);
  });

  test('of 100 headers is answered', async () => {
    expect(await answer('GET /livez HTTP/1.1', ...COMMON, ...Array(98).fill('a:'))).toMatchObject({ status: 200 });
  });

  test('that wants another protocol is answered in this one', async () => {
    const reply = await answer('GET /livez HTTP/1.1', 'Host: x', 'Connection: close, Upgrade', 'Upgrade: websocket');
    expect(reply).toMatchObject({ status: 200, body: { status: 'ok' } });
  });

  test('that waits to be asked for its body is asked', async () => {
    const lines = ['POST /graphql HTTP/1.1', ...COMMON, 'Expect: 100-continue', 'Content-Type: application/json'];
    const received = await send([...lines, 'Content-Length: 24'], '{"query":"{__typename}"} ');
    expect(received).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /);
  });
});

test('requests sent at once are answered in turn, the one that is no HTTP too, and the connection is closed', async () => {
  const { admin } = strongroom;
  const list = ['GET /api/v1/projects HTTP/1.1', 'Host: x', `Authorization: Bearer ${admin.token}`, '', ''].join(
    '\r\n',
  );
  const received = await exchange(
    strongroom.url,
    `${list}GET /nope HTTP/1.1\r\nHost: x\r\n\r\nno HTTP\r\n\r\nGET /livez`,
  );

  const first = firstReply(received);
  const second = firstReply(first.rest);
  const third = firstReply(second.rest);
  expect(first).toMatchObject({ status: 200, body: { projects: expect.any(Array) } });
  expect(second).toBeError(404, 'ROUTE_NOT_FOUND');
  expect(third).toBeError(400, 'MALFORMED_REQUEST');
  expect(third.rest).toBe('');
});

describe('a path that the router cannot read', () => {
  test.each([
    ['/api/v1/projects/%zz', 400, 'MALFORMED_REQUEST'],
    ['/api/v1/projects/%ff', 400, 'MALFORMED_REQUEST'],
    [`/api/v1/projects/${'x'.repeat(501)}`, 404, 'ROUTE_NOT_FOUND'],
    ['/api/v1/projects/%00', 422, 'VALIDATION_FAILED'],
  ])('%s is answered like any other, headers too', async (path, status, code) => {
    const reply = await strongroom.admin.get(path);
    const { headers: usual } = await strongroom.admin.get('/api/v1/nothing');

    expect(reply).toBeError(status, code);
    // A path that has a route may be answered in another coding.
    const names = (headers: Reply['headers']) => Object.keys(headers).filter((name) => name !== 'vary');
    expect(names(reply.headers).sort()).toEqual(names(usual).sort());
  });
});
