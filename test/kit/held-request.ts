import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Reply } from './caller.ts';
import { firstReply } from './raw.ts';

interface Sent {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
  /** Bytes that are kept back; all but the head with `body.length`. */
  readonly keep: number;
  /** In chunks, so that nobody knows before how long it is. */
  readonly isChunked?: boolean;
}

/** A request that is sent up to its last bytes, and finished later. */
export class HeldRequest {
  /** The reply, whenever it comes; null when the connection ends without one. */
  readonly reply: Promise<Reply | null>;
  readonly #socket: Socket;
  readonly #last: Buffer;

  private constructor(socket: Socket, last: Buffer) {
    this.#socket = socket;
    this.#last = last;
    let received = '';
    this.reply = new Promise((resolve) => {
      socket.on('data', (chunk) => {
        received += chunk.toString('utf8');
        const length = /content-length: (\d+)/i.exec(received)?.[1];
        const head = received.indexOf('\r\n\r\n');
        if (head >= 0 && Buffer.byteLength(received.slice(head + 4)) >= Number(length)) resolve(firstReply(received));
      });
      socket.on('close', () => resolve(null));
    });
  }

  static async open(url: string, { path, headers = {}, body, keep, isChunked = false }: Sent): Promise<HeldRequest> {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    const bytes = Buffer.from(body);
    const length = isChunked ? { 'transfer-encoding': 'chunked' } : { 'content-length': String(bytes.length) };
    const lines = Object.entries({ host: 'x', 'content-type': 'application/json', ...length, ...headers });
    socket.write(`POST ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`);
    const [first, last] = [bytes.subarray(0, bytes.length - keep), bytes.subarray(bytes.length - keep)];
    const framed = (part: Buffer): Buffer =>
      isChunked && part.length > 0
        ? Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')])
        : part;
    if (first.length > 0) socket.write(framed(first));
    return new HeldRequest(socket, isChunked ? Buffer.concat([framed(last), Buffer.from('0\r\n\r\n')]) : last);
  }

  /** Sends what was kept back. */
  finish(): void {
    if (!this.#socket.destroyed) this.#socket.write(this.#last);
  }

  close(): void {
    this.#socket.destroy();
  }
}
