import type { FastifyRequest } from 'fastify';

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
