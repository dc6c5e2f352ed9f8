import type { FastifyRequest } from 'fastify';
import { AppError } from '../errors.js';
import { runAndYield } from '../event-loop.js';
import { unstorableIn } from '../unstorable.js';
import { refuseViolations } from '../validation.js';

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
  const found = await runAndYield(() =>
    unstorableIn([['params', params], ['query', query], ...(Buffer.isBuffer(body) ? [] : [['body', body] as const])]),
  );
  refuseViolations(found);
}

/** What a page of another origin may read of an answer, beside what browsers let everybody read. */
const EXPOSED = [
  'ETag',
  'RateLimit',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'RateLimit-Policy',
  'Retry-After',
  'X-Request-Id',
  'Idempotency-Replayed',
  'X-Unresolved-References',
  'X-Unreadable-Values',
  'X-Depth-Truncated',
  'X-Ignored-Keys',
  'Preference-Applied',
].join(', ');
/** What it may send. */
const ACCEPTED = 'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Prefer';
const PREFLIGHT_LASTS_SECONDS = 600;

/**
 * Lets pages of listed origins call the service from a browser. They send their token themselves, so the service never allows
 * credentials: a cookie or a stored password of the user opens nothing.
 *
 * Not `@fastify/cors`: it answers in hooks, which the router's own refusals pass by; its OPTIONS route for every path hides
 * 404 and `Allow`; and it answers an OPTIONS that is no preflight with a text.
 */
export class Cors {
  readonly #origins: ReadonlySet<string>;

  /** @param origins as browsers spell them (`https://app.example.com`); none: no answer has a header of CORS */
  constructor(origins: readonly string[]) {
    this.#origins = new Set(origins);
  }

  /** Headers of any answer, errors too. `Vary` stands there also for others: a cache must not give them this one's answer. */
  headers(request: FastifyRequest): Record<string, string> {
    if (this.#origins.size === 0) return {};
    const { origin } = request.headers;
    if (!this.#isListed(origin)) return { vary: 'Origin' };
    return { vary: 'Origin', 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED };
  }

  /** Further headers of the answer to `OPTIONS`, where a browser asks before it sends the request itself. */
  preflightHeaders({ headers }: FastifyRequest, methods: readonly string[]): Record<string, string> {
    if (!this.#isListed(headers.origin) || headers['access-control-request-method'] === undefined) return {};
    return {
      'access-control-allow-methods': methods.join(', '),
      'access-control-allow-headers': ACCEPTED,
      'access-control-max-age': String(PREFLIGHT_LASTS_SECONDS),
    };
  }

  #isListed = (origin: string | undefined): origin is string => origin !== undefined && this.#origins.has(origin);
}
