import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { chunked, exchange, firstReply, rawRequest } from '../../kit/raw.js';
import { type SharedStrongroom, type Strongroom, useSharedStrongroom, useStrongroom } from '../../kit/strongroom.js';
import { until } from '../../kit/until.js';

const LIMIT = 12;
const LIMIT_PER_ADDRESS = 8;
const MIB = 1024 * 1024;

/** Addresses of this machine, each of which is a client of its own. */
const [MINE, OTHER, PROXY] = ['127.0.0.1', '127.0.0.2', '127.0.0.3'] as const;

describe('connections beyond the limits', () => {
  const strongroom: Strongroom = useStrongroom({
    MAX_CONNECTIONS: String(LIMIT),
    MAX_CONNECTIONS_PER_ADDRESS: String(LIMIT_PER_ADDRESS),
    TRUSTED_PROXIES: PROXY,
  });
  const sockets: Socket[] = [];
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });

  const open = async (localAddress: string): Promise<Socket> => {
    const { hostname, port } = new URL(strongroom.url);
    const socket = connect({ port: Number(port), host: hostname, localAddress });
    sockets.push(socket);
    socket.on('error', () => undefined).resume();
    await once(socket, 'connect');
    return socket;
  };
  /** A connection with a request that waits for its body. */
  const openBusy = async (localAddress: string): Promise<Socket> => {
    const socket = await open(localAddress);
    socket.write('POST /api/v1/auth/token/renew HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\nExpect: 100-continue\r\n');
    socket.write('Content-Type: application/json\r\n\r\n');
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 100 /);
    return socket;
  };
  /** A connection that was answered and is kept. */
  const openIdle = async (localAddress: string): Promise<Socket> => {
    const socket = await open(localAddress);
    expect(await ask(socket)).toBe(200);
    return socket;
  };
  /** Asks on a connection; 0 when it is closed instead of answered. */
  const ask = async (socket: Socket): Promise<number> => {
    const received = new Promise<string>((resolve) => {
      socket.once('data', (chunk) => resolve(String(chunk))).once('close', () => resolve(''));
    });
    if (socket.destroyed) return 0;
    socket.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');
    return Number((await received).split(' ')[1] ?? 0);
  };
  const askFrom = async (localAddress: string): Promise<number> => ask(await open(localAddress));
  const opened = async (count: number, how: () => Promise<Socket>): Promise<Socket[]> => {
    const all = [];
    for (let index = 0; index < count; index += 1) all.push(await how());
    return all;
  };
  const closed = (socket: Socket | undefined) => until('the connection to be closed', 20_000, () => socket?.destroyed);

  test('of an address take the place of its connections that were idle longest, and of no others', async () => {
    const others = await opened(2, () => openIdle(OTHER));
    const [longest, ...rest] = await opened(LIMIT_PER_ADDRESS, () => openIdle(MINE));

    expect(await askFrom(MINE)).toBe(200);

    await closed(longest);
    for (const socket of [...rest, ...others]) expect(await ask(socket)).toBe(200);
  });

  test('of an address that has none idle are closed and told in the log, while others are served', async () => {
    const busy = await opened(LIMIT_PER_ADDRESS, () => openBusy(MINE));

    expect(await askFrom(MINE)).toBe(0);
    expect(await askFrom(OTHER)).toBe(200);
    await until('a line in the log', 20_000, async () => /"msg":"connections refused"/.test(await strongroom.log()));
    busy[0]?.destroy();
    await until('room for another connection', 20_000, async () => (await askFrom(MINE)) === 200);
  });

  test('of all addresses take the place of the one that was idle longest, and else are closed', async () => {
    const [longest] = await opened(1, () => openIdle(OTHER));
    await opened(LIMIT_PER_ADDRESS, () => openBusy(MINE));
    await opened(LIMIT - LIMIT_PER_ADDRESS - 1, () => openBusy(OTHER));

    const newcomer = await openBusy('127.0.0.4');

    await closed(longest);
    expect(await askFrom('127.0.0.5')).toBe(0);
    newcomer.destroy();
    await until('room for another connection', 20_000, async () => (await askFrom('127.0.0.5')) === 200);
  });

  test('of a trusted proxy are limited by the limit of all alone', async () => {
    await opened(LIMIT_PER_ADDRESS + 2, () => openBusy(PROXY));
    expect(await askFrom(PROXY)).toBe(200);
  });
});

describe('a client that sends much more than is read', () => {
  const strongroom: SharedStrongroom = useSharedStrongroom();
  const head = (path: string, ...lines: string[]): string[] => [
    `POST ${path} HTTP/1.1`,
    'Host: x',
    'Content-Type: application/json',
    ...lines,
  ];
  const token = (): string => `Authorization: Bearer ${strongroom.admin.token}`;

  test.each([3 * MIB, 40 * MIB])('%i bytes, is told why, and cannot go on for ever', async (size) => {
    const bytes = Buffer.alloc(size, 'a');
    const cases = [
      ['/graphql', 413, 'BODY_TOO_LARGE', token()],
      ['/nope', 404, 'ROUTE_NOT_FOUND'],
      ['/api/v2/workspace', 401, 'TOKEN_MISSING'],
    ] as const;
    for (const [path, status, code, ...lines] of cases) {
      const common = head(path, 'Connection: close', ...lines);
      const plain = rawRequest([...common, `Content-Length: ${size}`], bytes);
      expect(firstReply(await exchange(strongroom.url, plain))).toBeError(status, code);
      const parts = rawRequest([...common, 'Transfer-Encoding: chunked'], chunked(bytes));
      expect(firstReply(await exchange(strongroom.url, parts))).toBeError(status, code);
    }
  });

  test('is answered its next request on the same connection, when the rest was not too much', async () => {
    const refused = rawRequest(head('/graphql', token(), `Content-Length: ${2 * MIB}`), Buffer.alloc(2 * MIB, '"'));
    const next = 'GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
    const reply = firstReply(await exchange(strongroom.url, Buffer.concat([refused, Buffer.from(next)])));

    expect(reply).toBeError(413, 'BODY_TOO_LARGE');
    expect(firstReply(reply.rest)).toMatchObject({ status: 200, body: { status: 'ok' } });
    expect(firstReply(reply.rest).rest).toBe('');
  });

  test('and stops in the middle loses its connection soon', async () => {
    const begun = rawRequest(head('/nope', `Content-Length: ${MIB}`), '{');
    const reply = firstReply(await exchange(strongroom.url, begun));
    expect(reply).toBeError(404, 'ROUTE_NOT_FOUND');
    expect(reply.rest).toBe('');
  });
});
