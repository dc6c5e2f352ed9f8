import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a proxy answers itself. */
type Answer = readonly [status: number, headers: Readonly<Record<string, string>>, body: string];

/** A reverse proxy before the service, as one that an operator has: it can refuse, end streams, and hold back what they send. */
export class ReverseProxy {
  url = '';
  /** Names of the operations that were asked for, in order; streams are `Changes`. */
  readonly asked: string[] = [];
  /** What it answers in place of the service. */
  refuses: (operation: string) => Answer | undefined = () => undefined;
  /** Sends no part of a stream before its end. */
  holdsBack = false;
  readonly #target: string;
  readonly #server: Server;
  readonly #streams = new Set<ServerResponse>();

  private constructor(target: string) {
    this.#target = target;
    this.#server = createServer((asked, reply) => void this.#pass(asked, reply));
  }

  static async start(target: string): Promise<ReverseProxy> {
    const proxy = new ReverseProxy(target);
    await new Promise<void>((listening) => proxy.#server.listen(0, '127.0.0.1', listening));
    proxy.url = `http://127.0.0.1:${(proxy.#server.address() as AddressInfo).port}`;
    return proxy;
  }

  async #pass(asked: IncomingMessage, reply: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of asked) parts.push(part as Buffer);
    const body = Buffer.concat(parts);
    const isStream = asked.url === '/graphql/stream';
    if (asked.method === 'POST') {
      const { operationName = '' } = JSON.parse(body.toString()) as { operationName?: string };
      this.asked.push(operationName);
      const answer = this.refuses(operationName);
      if (answer !== undefined) {
        const [status, headers, text] = answer;
        return void reply.writeHead(status, headers).end(text);
      }
    }
    const { hostname, port } = new URL(this.#target);
    const headers = { ...asked.headers, connection: 'close' };
    const far = request({ hostname, port, path: asked.url, method: asked.method, headers }, (answer) => {
      const { connection: _, 'transfer-encoding': __, ...sent } = answer.headers;
      if (isStream && this.holdsBack) return void answer.resume();
      if (isStream) this.#streams.add(reply);
      reply.writeHead(answer.statusCode ?? 502, sent);
      answer.pipe(reply);
    });
    far.on('error', () => {
      if (reply.headersSent) reply.destroy();
      else reply.writeHead(502, { 'content-type': 'text/html' }).end('<html><h1>502 Bad Gateway</h1></html>');
    });
    reply.on('close', () => {
      this.#streams.delete(reply);
      far.destroy();
    });
    far.end(body);
  }

  get openStreams(): number {
    return this.#streams.size;
  }

  endStreams(): void {
    for (const stream of this.#streams) stream.end();
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((closed) => this.#server.close(closed));
  }
}
