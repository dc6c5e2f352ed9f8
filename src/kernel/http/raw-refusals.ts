import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { AppError, type ErrorCode, toEnvelope } from '../errors.js';

/** By Node's code; anything else is no HTTP. */
const CODES: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'HEADERS_TOO_LARGE',
  ERR_HTTP_REQUEST_TIMEOUT: 'REQUEST_TIMEOUT',
};

/** Long enough for a client to read why; what it still sends is not read. */
const LINGER_MS = 500;

/**
 * Answers requests that no route and no reply object sees, because Node's parser refused them or gave up waiting: the envelope
 * is written to the socket itself, in its turn after the answers to requests before it, and the connection is closed.
 */
export class RawRefusals {
  /** The answers of a connection that are not sent yet, and the one before them. */
  readonly #answers = new WeakMap<Socket, readonly ServerResponse[]>();

  /** @param headers those of every answer */
  constructor(private readonly headers: Readonly<Record<string, string>>) {}

  /** Follows what a server answers. */
  watch(server: Server): void {
    server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
      if (socket.destroyed) return;
      const unsent = (this.#answers.get(socket) ?? []).filter(({ writableFinished }) => !writableFinished);
      this.#answers.set(socket, [...unsent, response]);
    });
    // Node answers these without a body, or not at all. It has taken its listeners away: an error of the socket would end the process.
    server.on('connect', (_request, socket: Socket) => {
      socket.on('error', () => undefined);
      this.refuse(new Error('no proxy'), socket);
    });
    // An expectation that nobody knows may be passed over (RFC 9110, 10.1.1).
    server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  }

  refuse = (error: Error & { code?: string }, socket: Socket): void => {
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    const answers = this.#answers.get(socket) ?? [];
    const before = answers.find(({ req, writableFinished }) => req.complete && !writableFinished);
    if (before !== undefined) return void before.once('close', () => this.refuse(error, socket));
    // The request has its answer already: what was wrong with it was seen before its body came to an end.
    if (answers.some(({ req, headersSent }) => !req.complete && headersSent)) return void socket.destroy();
    socket.end(this.#answer(CODES[error.code ?? ''] ?? 'MALFORMED_REQUEST'));
    // Destroyed at once, with bytes unread, the client would see a reset in place of the answer. Nothing more is parsed:
    // a request that was told that it came too late must not run when its rest arrives after all.
    socket.removeAllListeners('data').on('data', () => undefined);
    const linger = setTimeout(() => socket.destroy(), LINGER_MS).unref();
    socket.once('close', () => clearTimeout(linger));
  };

  #answer(code: ErrorCode): string {
    const { statusCode, body } = toEnvelope(new AppError(code), randomUUID());
    const text = JSON.stringify(body);
    const headers = {
      ...this.headers,
      'x-request-id': body.reqId,
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(text),
      'cache-control': 'no-store',
      connection: 'close',
    };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    return `${[`HTTP/1.1 ${statusCode} ${STATUS_CODES[statusCode]}`, ...lines].join('\r\n')}\r\n\r\n${text}`;
  }
}
