import { execFile } from 'node:child_process';
import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Context } from '../../../src/kernel/context.js';
import { type OutboundRequest, send, type TargetPolicy } from '../../../src/kernel/outbound/http.js';
import { OutboundError } from '../../../src/kernel/outbound/outbound-error.js';
import { Authority, type ServerCertificate } from '../../kit/outside/authority.js';
import { OutsideServer } from '../../kit/outside/outside-server.js';

const run = promisify(execFile);
const CANARY = 'cAnArY7';
const NAME = 'hooks.example.test';
const ctx = {} as Context;
/** Long enough for a busy machine. */
const LIMIT_MS = 20_000;
/** For targets that never finish. */
const SHORT_MS = 300;
const PRIVATE: TargetPolicy = { allowPrivateTargets: true };
const PUBLIC: TargetPolicy = { allowPrivateTargets: false };

let authority: Authority;
let certificate: ServerCertificate;
const running: OutsideServer[] = [];

beforeAll(async () => {
  authority = (await Authority.create()).trust();
  certificate = await authority.issue(['localhost', NAME, '127.0.0.1']);
});
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop();
});

async function start(answer: RequestListener, using: ServerCertificate | null = certificate): Promise<OutsideServer> {
  const server = await OutsideServer.start(using, answer);
  running.push(server);
  return server;
}

const post = (url: string, more: Partial<OutboundRequest> = {}, policy = PRIVATE) =>
  send(
    ctx,
    {
      url,
      method: 'POST',
      headers: { 'Content-Type': 'text/plain', 'X-Token': CANARY },
      body: `körper ${CANARY}`,
      limitMs: LIMIT_MS,
      maxResponseBytes: 1_000,
      ...more,
    },
    policy,
  );

/** The error, which must tell nothing of what was sent, to whom, and what came back. */
async function failureOf(call: Promise<unknown>): Promise<OutboundError> {
  const error = await call.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(OutboundError);
  const reported = `${JSON.stringify(error)} ${error instanceof Error ? `${error.message} ${error.stack} ${error.cause}` : ''}`;
  expect(reported).not.toMatch(new RegExp(`${CANARY}|${NAME}|127\\.0\\.0\\.1|localhost`));
  return error as OutboundError;
}

describe('a request to an external system', () => {
  test('arrives as it was given, and its response comes back', async () => {
    const server = await start((_, response) => response.writeHead(201, { 'X-Kind': 'made' }).end('made'));

    const response = await post(server.url(`/path?key=${CANARY}`));

    expect(response).toMatchObject({ status: 201, headers: { 'x-kind': 'made' }, body: Buffer.from('made') });
    expect(server.received).toEqual([
      {
        method: 'POST',
        path: `/path?key=${CANARY}`,
        headers: {
          'user-agent': 'Strongroom',
          'accept-encoding': 'identity',
          'content-type': 'text/plain',
          'x-token': CANARY,
          'content-length': String(Buffer.byteLength(`körper ${CANARY}`)),
          connection: 'close',
          host: `localhost:${server.port}`,
        },
        body: `körper ${CANARY}`,
        serverName: 'localhost',
      },
    ]);
  });

  test('goes to the address that was checked, and the name is resolved once', async () => {
    const server = await start((_, response) => response.end());
    const asked: string[] = [];
    const addressesOf = async (name: string) => {
      asked.push(name);
      return asked.length === 1 ? ['127.0.0.1'] : ['203.0.113.1'];
    };

    await post(server.url('/', NAME), {}, { allowPrivateTargets: true, addressesOf });

    expect(asked).toEqual([NAME]);
    expect(server.received).toMatchObject([{ serverName: NAME, headers: { host: `${NAME}:${server.port}` } }]);
  });

  test('goes to another address of the name when the first does not answer', async () => {
    const server = await start((_, response) => response.end());
    const addressesOf = async () => ['::1', '127.0.0.1'];

    await post(server.url('/', NAME), {}, { allowPrivateTargets: true, addressesOf });

    expect(server.received).toHaveLength(1);
  });

  test('has a connection of its own', async () => {
    const server = await start((_, response) => response.writeHead(200, { Connection: 'keep-alive' }).end('ok'));

    await post(server.url());
    await post(server.url());

    expect(server.connections).toBe(2);
  });

  test('needs no TLS where private targets are allowed', async () => {
    const server = await start((_, response) => response.end('ok'), null);

    expect((await post(server.url())).status).toBe(200);
  });

  test('is refused inside a transaction', async () => {
    const server = await start((_, response) => response.end());
    const call = send(
      { em: {} } as unknown as Context,
      { url: server.url(), method: 'GET', headers: {}, body: null, limitMs: LIMIT_MS, maxResponseBytes: 0 },
      PRIVATE,
    );

    await expect(call).rejects.toThrow('an external system was called inside a transaction');
    expect(server.connections).toBe(0);
  });
});

describe('a target that may not be called is refused with TARGET_REFUSED, and gets no connection:', () => {
  test.each([
    ...['127.0.0.1', 'localhost', 'LOCALHOST.', 'a.localhost', '127.1', '2130706433', '0x7f000001', '0177.0.0.1'],
    ...['0', '0x7f.1', '[::1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::127.0.0.1]', '[64:ff9b::7f00:1]'],
    ...['10.0.0.1', '169.254.169.254', '192.168.0.1', '100.64.0.1', '[fd00::1]', '[fe80::1]', '127。0。0。1'],
  ])('%s', async (host) => {
    const server = await start((_, response) => response.end());

    expect((await failureOf(post(server.url(`/${CANARY}`, host), {}, PUBLIC))).code).toBe('TARGET_REFUSED');
    expect(server.connections).toBe(0);
  });

  test.each([
    [['127.0.0.1']],
    [['10.1.2.3']],
    [['8.8.8.8', '127.0.0.1']],
    [['127.0.0.1', '8.8.8.8']],
    [['::ffff:127.0.0.1']],
    [['::ffff:7f00:1']],
    [['2606:4700::1111', '::1']],
    [['fe80::1%lo']],
    [['not an address']],
  ])('a name with the addresses %j', async (addresses) => {
    const server = await start((_, response) => response.end());
    const policy = { allowPrivateTargets: false, addressesOf: async () => addresses };

    expect(await failureOf(post(server.url('/', NAME), {}, policy))).toMatchObject({
      code: 'TARGET_REFUSED',
      isTemporary: false,
    });
    expect(server.connections).toBe(0);
  });

  test.each([
    ['without TLS', `http://${NAME}/${CANARY}`],
    ['with another scheme', `ftp://${NAME}/${CANARY}`],
    ['with a user', `https://${CANARY}@${NAME}/`],
    ['with a password', `https://:${CANARY}@${NAME}/`],
    ['that is no address', `hooks/${CANARY}`],
  ])('one %s', async (_, url) => {
    const addressesOf = async () => ['8.8.8.8'];

    expect((await failureOf(post(url, {}, { allowPrivateTargets: false, addressesOf }))).code).toBe('TARGET_REFUSED');
  });
});

test('a proxy of the environment is not used', async () => {
  const proxy = await start((_, response) => response.end('proxy'), null);
  const server = await start((_, response) => response.end('target'), null);
  const address = proxy.url();
  const env = { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: address, http_proxy: address, ALL_PROXY: address, NO_PROXY: '' };
  const program = join(import.meta.dirname, 'proxied.mjs');

  const { stdout } = await run(
    process.execPath,
    [`--import=${resolve('test/kit/sources.mjs')}`, program, server.url('/', '127.0.0.1')],
    { env },
  );

  expect(stdout).toBe('target');
  expect(proxy.connections).toBe(0);
});

describe('a redirect', () => {
  test('is not followed', async () => {
    const inside = await start((_, response) => response.end('inside'));
    const server = await start((_, response) =>
      response.writeHead(302, { Location: inside.url('/', '127.0.0.1') }).end(),
    );

    expect(await failureOf(post(server.url()))).toMatchObject({
      code: 'TARGET_REJECTED',
      status: 302,
      isTemporary: false,
    });
    expect(inside.connections).toBe(0);
  });
});

describe('a status other than 2xx is TARGET_REJECTED', () => {
  test.each([
    [400, false],
    [401, false],
    [404, false],
    [410, false],
    [408, true],
    [425, true],
    [429, true],
    [500, true],
    [503, true],
  ])('%i, temporary: %s', async (status, isTemporary) => {
    const server = await start((_, response) => response.writeHead(status).end(CANARY));

    expect(await failureOf(post(server.url()))).toMatchObject({ code: 'TARGET_REJECTED', status, isTemporary });
  });

  test.each([
    ['120', 120],
    ['999999999', 86_400],
    ['Wed, 21 Oct 2026 07:28:00 GMT', null],
    ['-1', null],
  ])('with Retry-After: %s', async (value, retryAfterSeconds) => {
    const server = await start((_, response) => response.writeHead(429, { 'Retry-After': value }).end());

    expect(await failureOf(post(server.url()))).toMatchObject({ retryAfterSeconds });
  });
});

describe('a target that does not finish is TARGET_TIMED_OUT', () => {
  test.each<[string, RequestListener]>([
    ['no response at all', () => undefined],
    ['a head that comes byte by byte', (request) => dripped(request.socket, 'HTTP/1.1 200 OK\r\nX-Slow: ')],
    ['a body that never ends', (_, response) => void response.write('some')],
    [
      'a body that comes byte by byte',
      (request) => dripped(request.socket, 'HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n'),
    ],
  ])('%s', async (_, answer) => {
    const server = await start(answer);

    expect(await failureOf(post(server.url(), { limitMs: SHORT_MS }))).toMatchObject({
      code: 'TARGET_TIMED_OUT',
      isTemporary: true,
    });
  });

  test('a name that is never resolved', async () => {
    const policy = { allowPrivateTargets: true, addressesOf: () => new Promise<string[]>(() => undefined) };

    expect((await failureOf(post(`https://${NAME}/`, { limitMs: SHORT_MS }, policy))).code).toBe('TARGET_TIMED_OUT');
  });
});

describe('a response that is no good is TARGET_RESPONSE_INVALID', () => {
  test.each<[string, RequestListener]>([
    ['a body that is too long', (_, response) => response.end('x'.repeat(1_001))],
    ['an endless body', (_, response) => flood(() => response.write('x'.repeat(65_536)), response)],
    ['a head that is too long', (_, response) => response.writeHead(200, manyHeaders(10_000)).end()],
    ['what is not HTTP', (request) => request.socket.end(`220 mail ${CANARY}\r\n`)],
  ])('%s', async (_, answer) => {
    const server = await start(answer);

    expect((await failureOf(post(server.url()))).code).toBe('TARGET_RESPONSE_INVALID');
  });

  test('one that switches to another protocol, and so never ends', async () => {
    const server = await start((request) =>
      request.socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'),
    );
    expect(await failureOf(post(server.url()))).toMatchObject({ code: 'TARGET_RESPONSE_INVALID' });
  });

  test('but one of the longest length is whole', async () => {
    const server = await start((_, response) => response.end('x'.repeat(1_000)));

    expect((await post(server.url())).body).toHaveLength(1_000);
  });

  test('and one that is compressed is left as it is', async () => {
    const bytes = Buffer.from('1f8b', 'hex');
    const server = await start((_, response) => response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(bytes));

    expect((await post(server.url())).body).toEqual(bytes);
  });
});

describe('a body that nobody wants', () => {
  test.each<[string, RequestListener]>([
    ['endless', (_, response) => flood(() => response.write('x'.repeat(65_536)), response)],
    ['never sent', (_, response) => void response.writeHead(200).flushHeaders()],
  ])('does not fail the call, when it is %s', async (_, answer) => {
    const server = await start(answer);

    expect(await post(server.url(), { maxResponseBytes: null })).toMatchObject({ status: 200, body: Buffer.alloc(0) });
  });
});

describe('a certificate that is not valid for the name is TARGET_CERTIFICATE', () => {
  test.each<[string, () => Promise<ServerCertificate>]>([
    ['of another name', () => authority.issue(['other.example.test'])],
    ['that has expired', () => authority.issue(['localhost'], { daysLeft: -1 })],
    ['of an unknown authority', async () => (await Authority.create()).issue(['localhost'])],
  ])('one %s', async (_, issued) => {
    const server = await start((_request, response) => response.end(), await issued());

    expect(await failureOf(post(server.url()))).toMatchObject({ code: 'TARGET_CERTIFICATE', isTemporary: true });
    expect(server.received).toEqual([]);
  });

  test('one of the address, when the target is a name', async () => {
    const server = await start((_, response) => response.end(), await authority.issue(['127.0.0.1']));

    expect((await failureOf(post(server.url()))).code).toBe('TARGET_CERTIFICATE');
    expect((await post(server.url('/', '127.0.0.1'))).status).toBe(200);
  });
});

describe('a target that is not there is TARGET_UNREACHABLE', () => {
  test('when nothing listens', async () => {
    const server = await start(() => undefined);
    await server.stop();
    running.splice(0);

    expect(await failureOf(post(server.url('/', '127.0.0.1')))).toMatchObject({
      code: 'TARGET_UNREACHABLE',
      reason: 'ECONNREFUSED',
      isTemporary: true,
    });
  });

  test.each<[string, () => Promise<string[]>]>([
    ['when the name does not exist', () => Promise.reject(Object.assign(new Error(NAME), { code: 'ENOTFOUND' }))],
    ['when the name has no address', async () => []],
  ])('%s', async (_, addressesOf) => {
    const policy = { allowPrivateTargets: false, addressesOf };

    expect((await failureOf(post(`https://${NAME}/`, {}, policy))).code).toBe('TARGET_UNREACHABLE');
  });

  test.each<[string, RequestListener]>([
    ['before it responds', (request) => request.socket.destroy()],
    ['within the response', (_, response) => response.write('some', () => response.destroy())],
  ])('when it hangs up %s', async (_, answer) => {
    const server = await start(answer);

    expect((await failureOf(post(server.url()))).code).toBe('TARGET_UNREACHABLE');
  });
});

const manyHeaders = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`X-${index}`, 'y']));

/** Writes for as long as there is a reader. */
function flood(
  write: () => boolean,
  stream: { once(event: 'drain', next: () => void): unknown; destroyed: boolean },
): void {
  while (!stream.destroyed && write());
  if (!stream.destroyed) stream.once('drain', () => flood(write, stream));
}

function dripped(socket: Socket, head: string): void {
  socket.write(head);
  const timer = setInterval(() => socket.write('x'), 20);
  socket.on('close', () => clearInterval(timer));
}
