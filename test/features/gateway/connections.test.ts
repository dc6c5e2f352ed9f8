import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { chunked, exchange, firstReply, rawRequest } from '../../kit/raw.js';
import { type Strongroom, useStrongroom } from '../../kit/strongroom.js';
import { until } from '../../kit/until.js';

const LIMIT = 12;
const MIB = 1024 * 1024;

describe('connections beyond MAX_CONNECTIONS', () => {
  const strongroom: Strongroom = useStrongroom({ MAX_CONNECTIONS: String(LIMIT) });

  const open = async (): Promise<Socket> => {
    const { hostname, port } = new URL(strongroom.url);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    return socket;
  };
  /** Whether a new connection is answered; else it was closed without a word. */
  const isAnswered = async (): Promise<boolean> => {
    const received = await exchange(strongroom.url, 'GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect(received).toMatch(/^(HTTP\/1\.1 200 |$)/);
    return received !== '';
  };

  test('are closed and told in the log, and those within it go on', async () => {
    const sockets = [];
    for (let index = 0; index < LIMIT; index += 1) sockets.push(await open());
    try {
      await until('the limit to be reached', 5_000, async () => !(await isAnswered()));
      const [first] = sockets as [Socket];
      first.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');
      expect(String((await once(first, 'data'))[0])).toMatch(/^HTTP\/1\.1 200 /);
      await until('a line in the log', 5_000, () => /"msg":"connections refused"/.test(strongroom.log()));
      first.destroy();
      await until('room for another connection', 5_000, isAnswered);
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  });
});

describe('a client that sends much more than is read', () => {
  const strongroom: Strongroom = useStrongroom();
  const head = (path: string, ...lines: string[]): string[] => [
    `POST ${path} HTTP/1.1`,
    'Host: x',
    'Content-Type: application/json',
    ...lines,
  ];

  test.each([3 * MIB, 40 * MIB])('%i bytes, is told why, and cannot go on for ever', async (size) => {
    const bytes = Buffer.alloc(size, 'a');
    const cases = [
      ['/graphql', 413, 'BODY_TOO_LARGE'],
      ['/nope', 404, 'ROUTE_NOT_FOUND'],
      ['/api/v2/workspace', 401, 'TOKEN_MISSING'],
    ] as const;
    for (const [path, status, code] of cases) {
      const plain = rawRequest(head(path, 'Connection: close', `Content-Length: ${size}`), bytes);
      expect(firstReply(await exchange(strongroom.url, plain))).toBeError(status, code);
      const parts = rawRequest(head(path, 'Connection: close', 'Transfer-Encoding: chunked'), chunked(bytes));
      expect(firstReply(await exchange(strongroom.url, parts))).toBeError(status, code);
    }
  });

  test('is answered its next request on the same connection, when the rest was not too much', async () => {
    const refused = rawRequest(head('/graphql', `Content-Length: ${2 * MIB}`), Buffer.alloc(2 * MIB, '"'));
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
