import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';

/** What callers ask of the account. */
export type DatatoolCall = 'account' | 'projects' | 'create' | 'tokens' | 'token' | 'permissions' | 'revoke' | 'rename';

/**
 * How a call goes wrong. `drop`: the connection breaks; `silent`: nothing is ever sent; `slow`: 1 byte per second; `huge`: 1 GiB;
 * `bomb`: gzip of 100 MiB that nobody asked for; `headers`: 10,000 of them; `garbage`: HTML with 200; `cut`: half of the JSON;
 * `late`: the right answer, after `ms`, or once `until` is settled; a number: that status.
 */
export type DatatoolFault =
  | 'drop'
  | 'silent'
  | 'slow'
  | 'huge'
  | 'bomb'
  | 'headers'
  | 'garbage'
  | 'cut'
  | 'late'
  | 'redirect'
  | number;

/** A fault to come. */
export interface PlannedFault {
  /** Absent: whatever call comes. */
  readonly on?: DatatoolCall;
  /** Before anything is done, or once it is. Default: before. */
  readonly when?: 'before' | 'after';
  readonly how: DatatoolFault;
  /** For how many calls. Default: all. */
  readonly times?: number;
  readonly ms?: number;
  /** Of a late answer: what it waits for, however long that takes on a busy machine. */
  readonly until?: Promise<unknown>;
  /** Of a redirect. */
  readonly to?: string;
  /** For `Retry-After`. */
  readonly retryAfter?: number;
}

/** What the stand-in answers. */
export interface Answer {
  readonly status: number;
  readonly body: object | null;
}

/** Sends an answer as it should be. */
export function sendResponse(response: ServerResponse, { status, body }: Answer): void {
  const headers = body === null ? {} : { 'Content-Type': 'application/json' };
  response.writeHead(status, headers).end(body === null ? undefined : JSON.stringify(body));
}

const MANY_HEADERS = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`X-Header-${at}`, 'x']));
const CHUNK = Buffer.alloc(1_048_576, 'x');

/** Answers badly, or not at all. */
export function misbehave(
  response: ServerResponse,
  { how, ms = 0, until, to = '/', retryAfter }: PlannedFault,
  answer: Answer,
): void {
  if (typeof how === 'number') {
    const headers = retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) };
    response.writeHead(how, { 'Content-Type': 'text/html', ...headers }).end('<h1>Something went wrong</h1>');
    return;
  }
  switch (how) {
    case 'drop':
      response.socket?.destroy();
      return;
    case 'silent':
      return;
    case 'late':
      if (until === undefined) setTimeout(() => sendResponse(response, answer), ms).unref();
      else void until.finally(() => sendResponse(response, answer));
      return;
    case 'garbage':
      response.writeHead(200, { 'Content-Type': 'text/html' }).end('<html><body>Welcome</body></html>');
      return;
    case 'cut':
      response.writeHead(200, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify(answer.body ?? {}).slice(0, 20));
      return;
    case 'redirect':
      response.writeHead(302, { Location: to }).end();
      return;
    case 'bomb':
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' });
      response.end(gzipSync(Buffer.alloc(104_857_600, ' ')));
      return;
    case 'headers':
      response.writeHead(200, MANY_HEADERS).end('{}');
      return;
    case 'huge':
      response.writeHead(200, { 'Content-Type': 'application/json' });
      pour(response, 1_024);
      return;
    case 'slow':
      response.writeHead(200, { 'Content-Type': 'application/json' });
      drip(response);
  }
}

/** As many MiB, as fast as they are taken. */
function pour(response: ServerResponse, left: number): void {
  if (left === 0) response.end();
  else if (!response.destroyed) response.write(CHUNK, () => pour(response, left - 1));
}

/** A byte each second, for ever. */
function drip(response: ServerResponse): void {
  if (response.destroyed) return;
  response.write(' ');
  setTimeout(() => drip(response), 1_000).unref();
}
