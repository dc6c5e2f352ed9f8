import type { FastifyRequest } from 'fastify';
import { AppError } from '../errors.js';
import { inOneGo } from '../event-loop.js';
import { unstorableIn } from '../unstorable.js';
import { validationFailed } from '../validation.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Takes documents of GraphQL: the gate checks the texts in them, whose places it can name. */
    readonly takesDocuments?: true;
  }
}

/** Far more than clients and proxies send. */
export const MAX_HEADER_FIELDS = 100;

/** Node reads the first of these and drops the others, a proxy before it perhaps the last: sent twice they are refused. */
const ONCE: ReadonlySet<string> = new Set([
  'host',
  'authorization',
  'content-type',
  'idempotency-key',
  'last-event-id',
  'origin',
]);

/**
 * Checks what is common to all requests, before anybody asks who calls: header fields, host, encoding of the body.
 *
 * @throws HEADERS_TOO_LARGE, MALFORMED_REQUEST, UNSUPPORTED_ENCODING
 */
export function checkHeaders({ raw, headers }: FastifyRequest): void {
  const names = raw.rawHeaders.filter((_, index) => index % 2 === 0);
  if (names.length > MAX_HEADER_FIELDS) throw new AppError('HEADERS_TOO_LARGE');
  const single = names.map((name) => name.toLowerCase()).filter((name) => ONCE.has(name));
  if (new Set(single).size < single.length) throw new AppError('MALFORMED_REQUEST');
  // The router would take it for `/`; only OPTIONS may ask about the service as a whole.
  if (raw.url === '*' && raw.method !== 'OPTIONS') throw new AppError('MALFORMED_REQUEST');
  const isOld = raw.httpVersion === '1.0';
  if (!isOld && (raw.httpVersion !== '1.1' || headers.host === undefined)) throw new AppError('MALFORMED_REQUEST');
  // `gzip, chunked` too: Node takes off the chunks only.
  const codings = [headers['content-encoding'] ?? 'identity', headers['transfer-encoding'] ?? 'chunked'];
  if (codings.join().toLowerCase() !== 'identity,chunked') throw new AppError('UNSUPPORTED_ENCODING');
}

/**
 * Refuses text that cannot be stored in whatever a request sends, once it is known who calls: header fields cannot have any.
 *
 * @throws VALIDATION_FAILED
 */
export async function refuseUnstorable({ params, query, body, is404, routeOptions }: FastifyRequest): Promise<void> {
  if (is404 || routeOptions.config.takesDocuments === true) return;
  const found = await inOneGo(() =>
    unstorableIn([['params', params], ['query', query], ...(Buffer.isBuffer(body) ? [] : [['body', body] as const])]),
  );
  if (found.length > 0) throw validationFailed(found);
}
