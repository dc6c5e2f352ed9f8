import http, { type IncomingMessage, type RequestListener, type Server } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { ServerCertificate } from './authority.ts';

/** A request that an external system received, whole. */
export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** The name in the greeting of TLS. */
  readonly serverName: string | false | null;
}

/** An external system that speaks HTTP, and may misbehave. Listens on 127.0.0.1. */
export class OutsideServer {
  readonly received: ReceivedRequest[] = [];
  /** Connections that were made to it, with or without a request. */
  connections = 0;
  readonly port: number;
  readonly #server: Server;

  readonly #scheme: string;

  private constructor(server: Server, scheme: string) {
    this.#server = server;
    this.#scheme = scheme;
    this.port = (server.address() as AddressInfo).port;
    server.on('connection', () => {
      this.connections += 1;
    });
  }

  /**
   * @param answer after the request was received; it may answer late, badly or not at all
   * @param certificate null for a server without TLS
   */
  static async start(certificate: ServerCertificate | null, answer: RequestListener): Promise<OutsideServer> {
    const requests = (request: IncomingMessage, response: http.ServerResponse): void => {
      const chunks: Buffer[] = [];
      request.on('error', () => undefined);
      response.on('error', () => undefined);
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { servername = null } = request.socket as Partial<TLSSocket>;
        outside.received.push({
          method: request.method ?? '',
          path: request.url ?? '',
          headers: request.headers,
          body: Buffer.concat(chunks).toString('utf8'),
          serverName: servername,
        });
        answer(request, response);
      });
    };
    const server =
      certificate === null ? http.createServer(requests) : https.createServer({ ...certificate }, requests);
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const outside = new OutsideServer(server, certificate === null ? 'http' : 'https');
    return outside;
  }

  /** @param host a name or an address that leads to this machine */
  url(path = '/', host = 'localhost'): string {
    return `${this.#scheme}://${host}:${this.port}${path}`;
  }

  /** Does not keep a process from its end. */
  unref(): void {
    this.#server.unref();
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((closed) => this.#server.close(closed));
  }
}
