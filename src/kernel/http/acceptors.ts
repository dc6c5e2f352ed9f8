import { once } from 'node:events';
import { type AddressInfo, createServer, type ListenOptions, type Server, type Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Endpoint } from './listening.js';

declare module 'fastify' {
  interface FastifyInstance {
    readonly acceptors: Acceptors;
  }
}

/** Sockets that listen on the port, where the system lets several do so. Only those of the same user may. */
const LISTENERS = process.platform === 'linux' ? 8 : 1;
const OPTIONS: ListenOptions = LISTENERS > 1 ? { reusePort: true } : {};

/**
 * Accepts connections of a server. Node accepts one connection of each listening socket in a turn of the event loop, so that whoever
 * opens hundreds at once would delay a newcomer, a health check for example, by as many turns. With several such sockets it is an
 * eighth of that.
 */
export class Acceptors {
  readonly #further: Server[] = [];
  #claim: Server | null = null;

  constructor(private readonly app: FastifyInstance) {}

  /** @returns the address of the service. @throws what `listen` throws, EADDRINUSE also where another service has the port */
  async listen({ host, port }: Endpoint): Promise<string> {
    const { app } = this;
    if (LISTENERS > 1 && port !== 0) this.#claim = await claim(host, port);
    const url = await app.listen({ host, port, ...OPTIONS });
    const { address, port: given } = app.server.address() as AddressInfo;
    for (let count = 1; count < LISTENERS; count += 1) {
      const further = createServer({ allowHalfOpen: true, noDelay: true }, (socket: Socket) =>
        app.server.emit('connection', socket),
      );
      await once(further.listen({ host: address, port: given, ...OPTIONS }), 'listening');
      this.#further.push(further);
    }
    return url;
  }

  /** Accepts no more. Resolves when all connections have ended. */
  async close(): Promise<void> {
    const servers = [this.app.server, ...this.#further].filter(({ listening }) => listening);
    const ended = servers.map((server) => once(server, 'close'));
    for (const server of [...servers, this.#claim]) server?.close();
    await Promise.all(ended);
  }
}

/**
 * Takes the port for this process. Where a port may be shared, two services of one user that start at the same time would otherwise
 * both get it, and each half of the requests. The name is one of the system, not of a file: it is free when its holder has ended,
 * however that came.
 */
async function claim(host: string, port: number): Promise<Server> {
  const server = createServer((socket) => socket.destroy()).listen({ path: `\0strongroom ${host} ${port}` });
  await once(server, 'listening');
  return server.unref();
}
