import { connect, createServer, type Server, type Socket } from 'node:net';

/** A relay before a database, as a proxy or a network that can stop to forward what is open, and still take new connections. */
export class Relay {
  /** The database through the relay. */
  readonly url: string;
  /** Connections that were made through it since the start. */
  taken = 0;
  readonly #server: Server;
  readonly #open: Set<Socket>;
  readonly #dumb = new Set<Socket>();
  #isPaused = false;

  private constructor(server: Server, url: string, open: Set<Socket>) {
    this.#server = server;
    this.url = url;
    this.#open = open;
    server.on('connection', (socket) => {
      this.taken += 1;
      if (this.#isPaused) socket.pause();
    });
  }

  /**
   * @param databaseUrl of Postgres or MongoDB: with a host and a port, or with the directory of a Postgres socket as its host
   * @param at the port to listen at; 0 is any
   * @param tap asked at each connection for what looks at the bytes that are sent to the database
   */
  static async start(databaseUrl: string, at = 0, tap?: () => (sent: Buffer) => void): Promise<Relay> {
    const url = new URL(databaseUrl);
    const host = decodeURIComponent(url.hostname);
    const port = url.port || (url.protocol === 'mongodb:' ? '27017' : '5432');
    const open = new Set<Socket>();
    const server = createServer((near) => {
      const far = host.startsWith('/')
        ? connect({ path: `${host}/.s.PGSQL.${port}` })
        : connect({ host, port: Number(port) });
      if (tap !== undefined) near.on('data', tap());
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        open.add(from);
        from.setNoDelay(true);
        from.pipe(to);
        from.on('error', () => to.destroy());
        from.on('close', () => {
          open.delete(from);
          to.destroy();
        });
      }
    });
    await new Promise<void>((listening) => server.listen(at, '127.0.0.1', listening));
    url.hostname = '127.0.0.1';
    url.port = String((server.address() as { port: number }).port);
    return new Relay(server, url.href, open);
  }

  /** From now on nothing passes over the connections that are open, and neither side is told; new ones work. */
  goDumb(): void {
    for (const socket of this.#open) {
      socket.unpipe();
      for (const event of ['data', 'end', 'close']) socket.removeAllListeners(event);
      socket.resume();
      this.#dumb.add(socket);
    }
    this.#open.clear();
  }

  /** Nothing passes until it resumes, over new connections neither, and no side is told. */
  pause(): void {
    this.#isPaused = true;
    for (const socket of this.#open) socket.pause();
  }

  resume(): void {
    this.#isPaused = false;
    for (const socket of this.#open) socket.resume();
  }

  /** Ends what went dumb; else the server would keep its side of it for good. */
  endDumb(): void {
    for (const socket of this.#dumb) socket.destroy();
    this.#dumb.clear();
  }

  async stop(): Promise<void> {
    for (const socket of [...this.#open, ...this.#dumb]) socket.destroy();
    await new Promise((closed) => this.#server.close(closed));
  }
}
