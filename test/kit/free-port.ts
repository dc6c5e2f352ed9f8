import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** A port at which nobody listens, below those that systems give by themselves: nobody else gets it while it is not in use. */
export async function freePort(): Promise<number> {
  for (;;) {
    const server = createServer().listen(20_000 + Math.floor(Math.random() * 12_000), '127.0.0.1');
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
