import { GraphQLError } from 'graphql';
import type { DetailCode } from './detail-codes.js';
import { storeFailure } from './sql-states.js';

/** What one error code means: its HTTP status, the short name of its class, and the sentence used when the thrower gives none. */
export interface ErrorRow {
  readonly status: number;
  readonly error: string;
  readonly message: string;
  /** Seconds for `Retry-After` when the thrower gives none; every 503 and 504 has it. */
  readonly retryAfterSeconds?: number;
}

/** `row(409, 'Conflict', 'The folder is not empty; delete what it holds first.')` */
export const row = (status: number, error: string, message: string): ErrorRow => ({ status, error, message });
const later = (status: 503 | 504, retryAfterSeconds: number, message: string): ErrorRow => ({
  ...row(status, status === 503 ? 'ServiceUnavailable' : 'GatewayTimeout', message),
  retryAfterSeconds,
});
/** What is not there, or may not be known of. */
export const notFound = (thing: string): ErrorRow =>
  row(404, 'NotFound', `The ${thing} does not exist, or you may not know of it.`);
/** What stands in the way of a change, and what to do about it. */
export const conflict = (message: string): ErrorRow => row(409, 'Conflict', message);

/**
 * The error codes that belong to no resource. A code is a stable machine word, used by REST and by GraphQL's `extensions`.
 * Source: decisions 2.3.
 */
const GENERAL = {
  MALFORMED_JSON: row(400, 'BadRequest', 'The body is not valid JSON in UTF-8.'),
  MALFORMED_REQUEST: row(
    400,
    'BadRequest',
    'The request is not well-formed; check its path, its header fields and its parameters.',
  ),
  UNSUPPORTED_ENCODING: row(400, 'BadRequest', 'The content encoding is not supported; send the body as it is.'),
  GRAPHQL_SYNTAX: row(400, 'BadRequest', 'The GraphQL document cannot be parsed.'),
  GRAPHQL_INVALID: row(400, 'BadRequest', 'The GraphQL document does not fit the schema.'),
  // The message is what clients of automatic persisted queries compare.
  PERSISTED_QUERY_NOT_SUPPORTED: row(400, 'BadRequest', 'PersistedQueryNotSupported'),
  QUERY_TOO_COMPLEX: row(400, 'BadRequest', 'The GraphQL document asks for more than is allowed; see details.'),

  TOKEN_MISSING: row(401, 'Unauthorized', 'Send a bearer token in the Authorization header.'),
  TOKEN_INVALID: row(
    401,
    'Unauthorized',
    'The token is not known; check that all of it was copied, or ask for a new one.',
  ),

  PERMISSION_DENIED: row(
    403,
    'PermissionDenied',
    'You may see this, but not do this to it; ask an admin for the actions that details name.',
  ),
  PERMISSION_BOUNDARY: row(
    403,
    'PermissionBoundaryError',
    'You may not give rights that you do not have, nor take them from others; details name those that you lack or have only under conditions.',
  ),
  PERSISTED_DOCUMENTS_ONLY: row(
    403,
    'PermissionDenied',
    'Only registered GraphQL documents run here; have this one registered with `npm run persist`, and send its documentId.',
  ),

  ROUTE_NOT_FOUND: row(
    404,
    'NotFound',
    'There is nothing at this path; see the API reference for the paths that there are.',
  ),
  PERSISTED_DOCUMENT_NOT_FOUND: row(
    404,
    'NotFound',
    'No GraphQL document is registered under this documentId; have it registered with `npm run persist`.',
  ),
  KEY_NOT_FOUND: notFound('key'),

  METHOD_NOT_ALLOWED: row(405, 'MethodNotAllowed', 'The path does not answer to this method; see the Allow header.'),

  NOT_ACCEPTABLE: row(
    406,
    'NotAcceptable',
    'The answer cannot be had in a media type of the Accept header; accept application/json.',
  ),

  REQUEST_TIMEOUT: row(
    408,
    'RequestTimeout',
    'The request came too slowly: send its header fields within 10 seconds, all of it within 30.',
  ),

  CONCURRENT_CHANGE: conflict('Somebody else changed this at the same moment; read it again and retry.'),

  IDEMPOTENCY_RUNNING: conflict('A request with this idempotency key still runs; try again as Retry-After says.'),
  IDEMPOTENCY_ANSWER_LOST: conflict(
    'The request took effect before, but its answer was lost. Read what it changed; do not send it with a new key.',
  ),
  IDEMPOTENCY_ANSWER_WITHHELD: conflict(
    'The request took effect before. Its answer is not repeated: it showed a credential, which is never stored, or your rights have changed.',
  ),

  PRECONDITION_FAILED: row(
    412,
    'PreconditionFailed',
    'The resource is not as If-Match says any more, or If-Match is a weak tag; read it again and retry.',
  ),

  BODY_TOO_LARGE: row(413, 'PayloadTooLarge', 'The body is larger than 1 MiB; send less at once.'),
  ANSWER_TOO_LARGE: row(
    413,
    'PayloadTooLarge',
    'The response would be larger than 64 MiB; read less at once: page with limit and cursor, in GraphQL with first and after.',
  ),
  UNSUPPORTED_MEDIA_TYPE: row(415, 'UnsupportedMediaType', 'Send the body as application/json.'),
  VALIDATION_FAILED: row(422, 'ValidationFailed', 'The request breaks a rule; see details.'),
  IDEMPOTENCY_KEY_REUSED: row(
    422,
    'ValidationFailed',
    'The idempotency key was used for another request; take a new key for each request.',
  ),
  RATE_LIMITED: row(429, 'RateLimited', 'Too many requests; wait as long as Retry-After says.'),
  HEADERS_TOO_LARGE: row(
    431,
    'RequestHeaderFieldsTooLarge',
    'The path with its query and the header fields are larger than 64 KiB, or there are more than 100 fields. Send fewer or shorter ones.',
  ),

  INTERNAL: row(500, 'InternalError', 'Something went wrong on our side; quote the request id to your operator.'),

  UPSTREAM_REJECTED: row(502, 'BadGateway', 'An outside system rejected what it was sent; see details.'),
  UPSTREAM_UNREACHABLE: row(
    502,
    'BadGateway',
    'An outside system could not be reached, or took too long; see details.',
  ),

  AUDIT_UNAVAILABLE: later(
    503,
    1,
    'The audit record cannot be stored, so nothing was disclosed or changed; try again.',
  ),
  STORE_UNAVAILABLE: later(503, 1, 'The database cannot be reached, or takes no changes at present; try again.'),
  OVERLOADED: later(503, 1, 'The service is overloaded; retry after the time in Retry-After.'),
  SHUTTING_DOWN: later(503, 5, 'The service is shutting down; try again.'),
  SEALED_VALUE_INVALID: later(503, 60, 'A stored value does not open; tell your operator.'),
  DEADLINE_EXCEEDED: later(504, 1, 'The request took too long and was given up; ask for less at once, or try again.'),
} as const satisfies Record<string, ErrorRow>;

/** All error codes, by who declares them. A slice adds its own by declaration merging, and its rows by `declareErrors`. */
export interface ErrorTables {
  readonly general: typeof GENERAL;
}

export type ErrorCode = { [K in keyof ErrorTables]: keyof ErrorTables[K] & string }[keyof ErrorTables];

const table: Record<string, ErrorRow> = { ...GENERAL };

/**
 * Adds the codes of a slice to the one table, as its module is loaded.
 *
 * @throws Error for a code that is declared already
 */
export function declareErrors<T extends Record<string, ErrorRow>>(rows: T): T {
  for (const [code, declared] of Object.entries(rows)) {
    if (Object.hasOwn(table, code)) throw new Error(`the error code ${code} is declared twice`);
    table[code] = declared;
  }
  return rows;
}

/** What a code means. @throws Error for a code whose slice is not loaded */
export function errorRow(code: ErrorCode): ErrorRow {
  const found = table[code];
  if (found === undefined) throw new Error(`the error code ${code} is not declared`);
  return found;
}

/** Whether there is such a code. */
export const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(table, code);

/** Every code that is declared, by its status and then its name. */
export const errorCodes = (): ErrorCode[] =>
  (Object.keys(table) as ErrorCode[]).sort((a, b) => errorRow(a).status - errorRow(b).status || (a < b ? -1 : 1));

/**
 * One fault: where, a machine word, and a sentence without the caller's value.
 *
 * `path` is a place in the request: in GraphQL it begins with an argument (`input.slug`), in REST with `body.`, `query.`,
 * `params.` or `header.`. Where a stored thing is in the way it may be the place of that thing.
 */
export interface ErrorDetail {
  readonly path: string;
  readonly code: DetailCode | ErrorCode;
  readonly message: string;
}

interface AppErrorOptions {
  readonly details?: readonly ErrorDetail[];
  readonly cause?: unknown;
  /** Seconds for `Retry-After`, where waiting helps; without them those of the code. */
  readonly retryAfterSeconds?: number;
  /** Further response headers that belong to the error. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The only error that code of ours throws on purpose. `message` never carries a caller's value. */
export class AppError extends Error {
  readonly details: readonly ErrorDetail[] | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;

  constructor(
    readonly code: ErrorCode,
    message: string = errorRow(code).message,
    options: AppErrorOptions = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'AppError';
    this.details = options.details;
    this.retryAfterSeconds = options.retryAfterSeconds ?? errorRow(code).retryAfterSeconds;
    this.headers = options.headers;
  }

  get status(): number {
    return errorRow(this.code).status;
  }
}

/** The same error, with its details at other places. */
export const withPaths = (error: AppError, placed: (path: string) => string): AppError =>
  withDetails(error, (detail) => ({ ...detail, path: placed(detail.path) }));

/** The same error, with other details. */
export const withDetails = (error: AppError, told: (detail: ErrorDetail) => ErrorDetail): AppError =>
  new AppError(error.code, error.message, {
    cause: error,
    ...(error.details === undefined ? {} : { details: error.details.map(told) }),
    ...(error.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: error.retryAfterSeconds }),
  });

/** Body of every error reply. Source: decisions 2.2. */
export interface ErrorBody {
  readonly reqId: string;
  readonly statusCode: number;
  readonly error: string;
  readonly code: ErrorCode;
  readonly message: string;
  readonly details?: readonly ErrorDetail[];
}

/** An error as REST sends it. */
export interface ErrorEnvelope {
  readonly statusCode: number;
  readonly headers: Record<string, string>;
  readonly body: ErrorBody;
}

/** The AppError behind whatever was thrown: unwraps GraphQL, reads database codes, and hides everything else as INTERNAL. */
export function toAppError(thrown: unknown): AppError {
  for (let error = thrown, depth = 0; error instanceof Error && depth < 8; depth += 1) {
    if (error instanceof AppError) return error;
    const { code, originalError } = error as { code?: unknown; originalError?: unknown };
    const failure = typeof code === 'string' ? storeFailure(code) : undefined;
    if (failure !== undefined) return new AppError(failure, undefined, { cause: thrown });
    error = originalError ?? error.cause;
  }
  return new AppError('INTERNAL', undefined, { cause: thrown });
}

/** Body of the reply for an error, in the one shape that REST and GraphQL's `extensions` share. */
export function toErrorBody(error: AppError, requestId: string): ErrorBody {
  const { status, error: name } = errorRow(error.code);
  return {
    reqId: requestId,
    statusCode: status,
    error: name,
    code: error.code,
    message: error.message,
    ...(error.details === undefined ? {} : { details: error.details }),
  };
}

/** Response headers that belong to an error: `WWW-Authenticate`, `Retry-After`, `RateLimit-*`. */
export function errorHeaders(error: AppError): Record<string, string> {
  return {
    ...error.headers,
    ...(error.status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
    ...(error.retryAfterSeconds === undefined ? {} : { 'retry-after': String(error.retryAfterSeconds) }),
  };
}

/** Whatever was thrown, as a REST reply. */
export function toEnvelope(thrown: unknown, requestId: string): ErrorEnvelope {
  const error = toAppError(thrown);
  return { statusCode: error.status, headers: errorHeaders(error), body: toErrorBody(error, requestId) };
}

/**
 * Whatever was thrown, as a GraphQL error: message, and `extensions` with `code`, `statusCode`, `reqId`, `details`.
 * Locations and path stay, since they hold names of the document's fields and positions only.
 */
export function toGraphQLError(thrown: unknown, requestId: string, at?: GraphQLError): GraphQLError {
  const error = toAppError(thrown);
  const { message, error: _name, ...extensions } = toErrorBody(error, requestId);
  return new GraphQLError(message, {
    ...(at === undefined ? {} : { nodes: at.nodes, source: at.source, positions: at.positions, path: at.path }),
    extensions,
  });
}
