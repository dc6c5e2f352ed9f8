import type { JsonSchema } from '../response-schema.js';

const header = (schema: JsonSchema, description: string): JsonSchema => ({ description, schema });
const INTEGER: JsonSchema = { type: 'integer' };
const TEXT: JsonSchema = { type: 'string' };

const HEADERS = {
  'X-Request-Id': header(
    { type: 'string', format: 'uuid' },
    'ID of the request, also in the log and the audit trail. Every answer has it.',
  ),
  ETag: header(TEXT, 'Strong tag of the reply, for If-None-Match.'),
  'Idempotency-Replayed': header(TEXT, '`true` on the answer to an earlier request with the same key.'),
  'X-Ignored-Keys': header(
    TEXT,
    'Unknown fields of the body, which were ignored: `id, path, others=2`. Only identifiers of at most 40 characters are named; `others` counts the rest. Absent when there were none.',
  ),
  'Preference-Applied': header(TEXT, '`handling=strict` on the answer to a request that preferred it.'),
  'Retry-After': header(INTEGER, 'Seconds after which the request passes.'),
  'RateLimit-Policy': header(
    TEXT,
    'The limits that the request counts in: `"reads";q=600;w=60` is 600 in 60 seconds. As all of these header fields, on every counted answer, errors too; absent where nothing is limited.',
  ),
  RateLimit: header(TEXT, 'What is left of each, and the seconds until there is more: `"reads";r=599;t=56`.'),
  'RateLimit-Limit': header(INTEGER, 'Of the limit of which the least is left: how often it passes in its window.'),
  'RateLimit-Remaining': header(INTEGER, 'Of the same limit: how often it passes still.'),
  'RateLimit-Reset': header(INTEGER, 'Of the same limit: seconds until there is more.'),
} as const satisfies Record<string, JsonSchema>;

type HeaderName = keyof typeof HEADERS;

/** The header fields that say how rate limits stand. */
export const LIMIT_HEADERS: readonly HeaderName[] = [
  'RateLimit-Policy',
  'RateLimit',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
];

/** The header fields of a response in an OpenAPI document. */
export const headerReferences = (names: readonly HeaderName[]): JsonSchema =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** `components.headers` of an OpenAPI document, which `headerReferences` refers to. */
export const headerComponents = (): JsonSchema => HEADERS;
