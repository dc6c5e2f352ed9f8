import type { JsonSchema } from '../response-schema.js';

const header = (schema: JsonSchema, description: string): JsonSchema => ({ description, schema });
const INTEGER: JsonSchema = { type: 'integer' };
const TEXT: JsonSchema = { type: 'string' };

const HEADERS = {
  'X-Request-Id': header(
    { type: 'string', format: 'uuid' },
    'ID of the request, also in the log and the audit trail. Every response has it.',
  ),
  ETag: header(TEXT, 'Strong entity tag of the response, for If-None-Match and If-Match.'),
  'Idempotency-Replayed': header(
    TEXT,
    '`true` if the response is that of an earlier request with the same idempotency key.',
  ),
  'X-Ignored-Keys': header(
    TEXT,
    'Fields of the body that were ignored, of those in `x-ignored-fields`: `id, path`. Absent if no field was ignored.',
  ),
  'Preference-Applied': header(TEXT, '`handling=strict` if the request asked for it with Prefer.'),
  'Retry-After': header(INTEGER, 'Seconds to wait before you retry.'),
  'RateLimit-Policy': header(
    TEXT,
    'Rate limits that count the request: `"reads";q=600;w=60` means 600 requests in 60 seconds. Like all RateLimit fields, it is on every counted response, including errors, and absent where no limit applies.',
  ),
  RateLimit: header(TEXT, 'Remaining requests of each limit, and seconds until it resets: `"reads";r=599;t=56`.'),
  'RateLimit-Limit': header(INTEGER, 'Requests per window of the limit with the fewest remaining requests.'),
  'RateLimit-Remaining': header(INTEGER, 'Remaining requests of that limit.'),
  'RateLimit-Reset': header(INTEGER, 'Seconds until that limit resets.'),
} as const satisfies Record<string, JsonSchema>;

type HeaderName = keyof typeof HEADERS;

/** Header fields with the state of rate limits. */
export const LIMIT_HEADERS: readonly HeaderName[] = [
  'RateLimit-Policy',
  'RateLimit',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
];

/** Those of them that a success names; a 429 names all. */
export const SUCCESS_LIMIT_HEADERS: readonly HeaderName[] = ['RateLimit-Policy', 'RateLimit'];

/** The header fields of a response in an OpenAPI document. */
export const headerReferences = (names: readonly HeaderName[]): JsonSchema =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** `components.headers` of an OpenAPI document, which `headerReferences` refers to. */
export const headerComponents = (): JsonSchema => HEADERS;
