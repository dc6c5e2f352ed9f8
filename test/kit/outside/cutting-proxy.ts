import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** When a proxy stops to forward. Bytes are counted for each connection; absent is never. */
export interface Cut {
  /** Of the client: what comes after so many never arrives, and both sides are disconnected. */
  readonly afterSent?: number;
  /** Of the server: what comes after so many never arrives, and both sides stay connected. */
  readonly dropAfterReceived?: number;
  /** Only this connection, counted from 0 since the last `cut`; absent: each. */
  readonly connection?: number;
}

/** A network before a server that breaks off in the middle. Listens on 127.0.0.1. */
export class CuttingProxy {
  readonly port: number;
  /** Connections that were made to it since the last `cut`. */
  connections = 0;
  /** The most bytes that a client sent over one connection since then. */
  mostSent = 0;
  #cut: Cut = {};
  readonly #server: Server;
  readonly #open = new Set<Socket>();
  #held: (() => void)[] | null = null;

  private constructor(server: Server, to: number) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    server.on('connection', (near) => {
      this.#open.add(near);
      const forward = (): void => this.#forward(near, connect({ port: to, host: '127.0.0.1' }));
      if (this.#held === null) forward();
      else {
        this.connections += 1;
        this.#held.push(forward);
      }
    });
  }

  /** @param to the port of the server, on this machine */
  static async start(to: number): Promise<CuttingProxy> {
    const server = createServer();
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    return new CuttingProxy(server, to);
  }

  /** For connections from now on. Nothing given forwards all. */
  cut(when: Cut = {}): void {
    this.#cut = when;
    this.connections = 0;
    this.mostSent = 0;
  }

  /** New connections are made, and nothing is forwarded. @returns what has them go on */
  hold(): () => void {
    const held: (() => void)[] = [];
    this.#held = held;
    return () => {
      this.#held = null;
      for (const forward of held) forward();
    };
  }

  async stop(): Promise<void> {
    for (const socket of this.#open) socket.destroy();
    await new Promise((closed) => this.#server.close(closed));
  }

  #forward(near: Socket, far: Socket): void {
    const { connection } = this.#cut;
    const { afterSent = Number.POSITIVE_INFINITY, dropAfterReceived = Number.POSITIVE_INFINITY } =
      connection === undefined || connection === this.connections ? this.#cut : {};
    this.connections += 1;
    for (const socket of [near, far]) {
      this.#open.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.on('close', () => this.#open.delete(socket));
    }
    let sent = 0;
    let received = 0;
    near.on('data', (chunk) => {
      const passed = chunk.subarray(0, Math.max(0, afterSent - sent));
      sent += chunk.length;
      this.mostSent = Math.max(this.mostSent, sent);
      if (passed.length > 0) far.write(passed);
      if (sent >= afterSent) near.destroy();
    });
    far.on('data', (chunk) => {
      const passed = chunk.subarray(0, Math.max(0, dropAfterReceived - received));
      received += chunk.length;
      if (passed.length > 0) near.write(passed);
    });
    // Not destroyed: the server is to act on all that it got, and then closes by itself.
    near.on('close', () => far.end());
    far.on('close', () => near.destroy());
  }
}
