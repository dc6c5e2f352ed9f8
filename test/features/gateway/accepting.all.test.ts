import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { migratedDatabase } from '../../kit/databases.js';
import { Service } from '../../kit/service.js';
import { until } from '../../kit/until.js';

const isLinux = process.platform === 'linux';
/** What Node answers to a head that asks for it. */
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';

/** How many sockets listen on a port of this machine. */
async function listenersOn(port: number): Promise<number> {
  const tables = await Promise.all(['/proc/net/tcp', '/proc/net/tcp6'].map((path) => readFile(path, 'utf8')));
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  return tables.join('\n').match(new RegExp(`:${hex} [0-9A-F]+:0000 0A`, 'g'))?.length ?? 0;
}

/** Node accepts one connection of a listening socket in a turn: a crowd would stand before a health check. */
describe('a service whose port is shared by several sockets of its own', () => {
  let service: Service;
  beforeAll(async () => {
    service = await Service.start({ env: { DATABASE_URL: await migratedDatabase() } });
  });
  afterAll(() => service.stop());

  // Elsewhere one socket has the port.
  (isLinux ? test : test.skip)('listens with eight', async () => {
    expect(await listenersOn(Number(new URL(service.url).port))).toBe(8);
  });

  test('answers on connections of each of them, and on shutdown finishes their requests and leaves none open', async () => {
    const { hostname, port } = new URL(service.url);
    const sockets = await Promise.all(
      Array.from({ length: 64 }, async () => {
        const socket = connect(Number(port), hostname);
        await once(socket, 'connect');
        return socket;
      }),
    );
    const texts = new Map(sockets.map((socket) => [socket, '']));
    const replies = sockets.map(async (socket) => {
      socket.on('data', (chunk) => texts.set(socket, `${texts.get(socket)}${chunk}`));
      socket.on('error', () => undefined);
      socket.write('POST /api/v1/auth/universal-auth/login HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n');
      socket.write('Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{');
      await once(socket, 'close');
    });
    await until('all heads to be read', 20_000, () => [...texts.values()].every((text) => text === CONTINUE));
    service.signal('SIGTERM');
    // Bodies that come more than 1.5 s later are not waited for.
    if (isLinux) await until('the port to be closed', 20_000, async () => (await listenersOn(Number(port))) === 0);
    else await delay(200);
    for (const socket of sockets) socket.write('}');
    await Promise.all(replies);
    expect([...texts.values()].filter((text) => !text.startsWith(`${CONTINUE}HTTP/1.1 422 `))).toEqual([]);
    expect(await service.exit()).toBe(0);
    if (isLinux) expect(await listenersOn(Number(port))).toBe(0);
  });
});
