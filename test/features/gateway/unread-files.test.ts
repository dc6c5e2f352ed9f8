import { connect } from 'node:net';
import { type SharedStrongroom, useSharedStrongroom } from '../../kit/strongroom.js';
import { until } from '../../kit/until.js';

const CONNECTIONS = 60;
/** Of the largest file, 5 MB, there were as many copies as connections. */
const PATH = '/assets/graphiql.js';
const MIB = 1024 * 1024;

describe('a file of the pages', () => {
  const strongroom: SharedStrongroom = useSharedStrongroom();

  const memory = async (): Promise<number> => {
    const { text } = await strongroom.admin.anonymous.get('/metrics');
    return Number(/^process_resident_memory_bytes (\S+)$/m.exec(text)?.[1]);
  };

  test('is in memory once, however many ask for it at one moment, as it is, and do not read it', async () => {
    // It is packed at first, which takes memory too.
    await strongroom.admin.anonymous.request({ method: 'GET', path: PATH, headers: { 'accept-encoding': 'gzip' } });
    const before = await memory();
    const { hostname, port } = new URL(strongroom.url);
    const begun = new Set<number>();
    const sockets = Array.from({ length: CONNECTIONS }, (_, index) => {
      const socket = connect(Number(port), hostname);
      socket.once('readable', () => begun.add(index)).on('error', () => undefined);
      socket.write(`GET ${PATH} HTTP/1.1\r\nHost: x\r\nAccept-Encoding: identity\r\n\r\n`);
      return socket;
    });
    try {
      await until('all to be answered', 20_000, () => begun.size === CONNECTIONS);
      expect((await memory()) - before).toBeLessThan(120 * MIB);
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  });
});
