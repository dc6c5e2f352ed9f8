import { connect } from 'node:net';
import type { Reply } from './caller.ts';

/** Less than a test may take. */
const CLOSED_WITHIN_MS = 20_000;

/**
 * Sends bytes as they are, which no client of HTTP would, and answers all that came until the service closed the connection.
 * Lets a reset pass: whether an answer came before it shows in what is answered.
 */
export function exchange(url: string, bytes: string | Buffer): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    const chunks: Buffer[] = [];
    const received = (): string => Buffer.concat(chunks).toString('utf8');
    socket.setTimeout(CLOSED_WITHIN_MS, () => {
      reject(new Error(`the connection stays open; it brought ${received().slice(0, 300)}`));
      socket.destroy();
    });
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(received()));
    socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  });
}

/** A request in its own words: lines of the head, then the body as it is. */
export const rawRequest = (lines: readonly string[], body: Buffer | string = ''): Buffer =>
  Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), Buffer.from(body)]);

/** Chunks of a body, for `Transfer-Encoding: chunked`. */
export function chunked(body: Buffer, size = 60_000): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < body.length; at += size) {
    const part = body.subarray(at, at + size);
    parts.push(Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n'));
  }
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')]);
}

/** The first reply in what a connection brought, of which nothing but `Content-Length` tells the end. */
export function firstReply(received: string): Reply & { readonly rest: string } {
  const end = received.indexOf('\r\n\r\n');
  const [statusLine = '', ...lines] = received.slice(0, end).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  const after = Buffer.from(received.slice(end + 4));
  const length = Number(headers['content-length'] ?? 0);
  const text = after.subarray(0, length).toString('utf8');
  return {
    status: Number(statusLine.split(' ')[1]),
    headers,
    text,
    body: text.startsWith('{') ? JSON.parse(text) : null,
    rest: after.subarray(length).toString('utf8'),
  };
}
