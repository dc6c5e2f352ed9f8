import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** Ports of one process of the tests: two never find the same one free. */
const PORTS = 3_000;
const FIRST = 20_000 + (Number(process.env.JEST_WORKER_ID ?? 0) % 4) * PORTS;

/** A port at which nobody listens, below those that systems give by themselves: nobody else gets it while it is not in use. */
export async function freePort(): Promise<number> {
  for (;;) {
    const server = createServer().listen(FIRST + Math.floor(Math.random() * PORTS), '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    const { port } = server.address() as AddressInfo;
    await new Promise((closed) => server.close(closed));
    return port;
  }
}
