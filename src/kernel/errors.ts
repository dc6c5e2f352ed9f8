import { GraphQLError } from 'graphql';
import type { DetailCode } from './detail-codes.js';
import { isDataError, storeFailureOf } from './sql-states.js';

/** What one error code means: its HTTP status, the short name of its class, and the sentence used when the thrower gives none. */
export interface ErrorRow {
  readonly status: number;
  readonly error: string;
  readonly message: string;
  /** Seconds for `Retry-After` when the thrower gives none; every 503 and 504 has it. */
  readonly retryAfterSeconds?: number;
}

/** `row(409, 'Conflict', 'The folder is not empty. Delete its contents first.')` */
export const row = (status: number, error: string, message: string): ErrorRow => ({ status, error, message });
const later = (status: 503 | 504, retryAfterSeconds: number, message: string): ErrorRow => ({
  ...row(status, status === 503 ? 'ServiceUnavailable' : 'GatewayTimeout', message),
  retryAfterSeconds,
});
/** A resource that does not exist, or that the caller cannot see. */
export const notFound = (thing: string): ErrorRow =>
  row(404, 'NotFound', `The ${thing} does not exist, or you cannot see it.`);
/** A conflict with the current state, and how to resolve it. */
export const conflict = (message: string): ErrorRow => row(409, 'Conflict', message);

/**
 * The error codes that belong to no resource. A code is a stable machine word, used by REST and by GraphQL's `extensions`.
 */
const GENERAL = {
  MALFORMED_JSON: row(400, 'BadRequest', 'The body is not valid JSON in UTF-8.'),
  MALFORMED_REQUEST: row(400, 'BadRequest', 'The request is malformed. Check its path, header fields and parameters.'),
  UNSUPPORTED_ENCODING: row(400, 'BadRequest', 'The content encoding is not supported. Send the body uncompressed.'),
  GRAPHQL_SYNTAX: row(400, 'BadRequest', 'The GraphQL document cannot be parsed.'),
  GRAPHQL_INVALID: row(400, 'BadRequest', 'The GraphQL document does not match the schema.'),
  // The message is what clients of automatic persisted queries compare.
  PERSISTED_QUERY_NOT_SUPPORTED: row(400, 'BadRequest', 'PersistedQueryNotSupported'),
  QUERY_TOO_COMPLEX: row(400, 'BadRequest', 'The GraphQL document exceeds a limit. See `details`.'),

  TOKEN_MISSING: row(401, 'Unauthorized', 'Send a bearer token in the Authorization header.'),
  TOKEN_INVALID: row(
    401,
    'Unauthorized',
    'The token is invalid, expired or revoked. Check that you copied all of it, or get a new one.',
  ),

  PERMISSION_DENIED: row(
    403,
    'PermissionDenied',
    'You can see this resource, but you do not have permission for this action. Ask an admin for the actions listed in `details`.',
  ),
  PERMISSION_BOUNDARY: row(
    403,
    'PermissionBoundaryError',
    'You cannot grant or revoke permissions that you do not have yourself. `details` lists those that you do not have, or have only under conditions.',
  ),
  PERSISTED_DOCUMENTS_ONLY: row(
    403,
    'PermissionDenied',
    'This service runs only registered GraphQL documents. Register this one with `npm run persist` and send its `documentId`.',
  ),

  ROUTE_NOT_FOUND: row(404, 'NotFound', 'No such path. See the API reference for all paths.'),
  PERSISTED_DOCUMENT_NOT_FOUND: row(
    404,
    'NotFound',
    'No GraphQL document is registered under this `documentId`. Register it with `npm run persist`.',
  ),
  KEY_NOT_FOUND: notFound('key'),

  METHOD_NOT_ALLOWED: row(405, 'MethodNotAllowed', 'The path does not support this method. See the Allow header.'),

  NOT_ACCEPTABLE: row(
    406,
    'NotAcceptable',
    'The response is not available in any media type of the Accept header. Accept application/json.',
  ),

  REQUEST_TIMEOUT: row(
    408,
    'RequestTimeout',
    'The request took too long to arrive. Send its header fields within 10 seconds and the whole request within 30 seconds.',
  ),

  KEY_DISABLED: conflict(
    'The organization key of the project is disabled. Enable it, or choose another key for a new project.',
  ),
  CONCURRENT_CHANGE: conflict('Somebody else changed this resource at the same time. Read it again and retry.'),

  EXISTS_DIFFERENTLY: conflict(
    'It exists already, but not as you would create it. Update it, or change the fields listed in `details`.',
  ),
  NAME_AMBIGUOUS: conflict(
    'Several have this name, so that it is not clear which one to return. Rename or delete all but one.',
  ),

  IDEMPOTENCY_RUNNING: conflict(
    'A request with this idempotency key is still running. Retry after the time in Retry-After.',
  ),
  IDEMPOTENCY_ANSWER_LOST: conflict(
    'An earlier request with this key took effect, but its response was lost. Read the changed resource. Do not send the request again with a new key.',
  ),
  IDEMPOTENCY_ANSWER_WITHHELD: conflict(
    'An earlier request with this key took effect. Its response is not repeated because it contained a credential, which is never stored, or because your permissions have changed.',
  ),

  PRECONDITION_FAILED: row(
    412,
    'PreconditionFailed',
    'The resource no longer matches If-Match, or If-Match has a weak tag. Read the resource again and retry.',
  ),

  BODY_TOO_LARGE: row(413, 'PayloadTooLarge', 'The body is larger than 1 MiB. Split the request.'),
  ANSWER_TOO_LARGE: row(
    413,
    'PayloadTooLarge',
    'The response would be larger than 64 MiB. Read it in pages: with `limit` and `cursor`, or in GraphQL with `first` and `after`.',
  ),
  UNSUPPORTED_MEDIA_TYPE: row(415, 'UnsupportedMediaType', 'Send the body as application/json.'),
  VALIDATION_FAILED: row(422, 'ValidationFailed', 'The request is invalid. See `details`.'),
  IDEMPOTENCY_KEY_REUSED: row(
    422,
    'ValidationFailed',
    'The idempotency key was used for a different request. Use a new key for each request.',
  ),
  RATE_LIMITED: row(429, 'RateLimited', 'Too many requests. Retry after the time in Retry-After.'),
  TOO_MANY_STREAMS: row(
    429,
    'RateLimited',
    'Too many event streams are open. Close one, or retry after the time in Retry-After.',
  ),
  HEADERS_TOO_LARGE: row(
    431,
    'RequestHeaderFieldsTooLarge',
    'The path with its query and the header fields are larger than 64 KiB, or there are more than 100 fields. Send fewer or shorter ones.',
  ),

  INTERNAL: row(500, 'InternalError', 'Internal error. Report the request ID (`reqId`) to your operator.'),

  UPSTREAM_REJECTED: row(502, 'BadGateway', 'An external system rejected the request. See `details`.'),
  UPSTREAM_UNREACHABLE: row(
    502,
    'BadGateway',
    'An external system could not be reached, or did not respond in time. See `details`.',
  ),

  AUDIT_UNAVAILABLE: later(503, 1, 'The audit record could not be stored, so nothing was disclosed or changed. Retry.'),
  STORE_UNAVAILABLE: later(503, 1, 'The database cannot be reached, or is read-only at the moment. Retry.'),
  OVERLOADED: later(503, 1, 'The service is overloaded. Retry after the time in Retry-After.'),
  SHUTTING_DOWN: later(503, 5, 'The service is shutting down. Retry.'),
  SEALED_VALUE_INVALID: later(503, 60, 'A stored value cannot be decrypted. Tell your operator.'),
  DEADLINE_EXCEEDED: later(
    504,
    1,
    'The request exceeded its time limit and was aborted. Request less at once, or retry.',
  ),
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

/** A detail that says what is wrong with the value at a path. */
export const invalid = (path: string, message: string): ErrorDetail => ({ path, code: 'INVALID', message });

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
    const { stackTraceLimit } = Error;
    // What a caller has caused is told by its code. A document may be denied thousands of fields, and a stack is most of what each takes.
    if (errorRow(code).status < 500) Error.stackTraceLimit = 0;
    super(message, { cause: options.cause });
    Error.stackTraceLimit = stackTraceLimit;
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
export const withDetails = (error: AppError, reported: (detail: ErrorDetail) => ErrorDetail): AppError =>
  new AppError(error.code, error.message, {
    cause: error,
    ...(error.details === undefined ? {} : { details: error.details.map(reported) }),
    ...(error.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: error.retryAfterSeconds }),
  });

/** Body of every error reply. */
interface ErrorBody {
  readonly reqId: string;
  readonly statusCode: number;
  readonly error: string;
  readonly code: ErrorCode;
  readonly message: string;
  readonly details?: readonly ErrorDetail[];
}

/** An error as REST sends it. */
interface ErrorEnvelope {
  readonly statusCode: number;
  readonly headers: Record<string, string>;
  readonly body: ErrorBody;
}

/** The AppError behind whatever was thrown: unwraps GraphQL, reads database codes, and hides everything else as INTERNAL. */
export function toAppError(thrown: unknown): AppError {
  for (let error = thrown, depth = 0; error instanceof Error && depth < 8; depth += 1) {
    if (error instanceof AppError) return error;
    const { code, originalError } = error as { code?: unknown; originalError?: unknown };
    const failure = typeof code === 'string' ? storeFailureOf(code) : undefined;
    if (failure !== undefined) return new AppError(failure, undefined, { cause: thrown });
    error = originalError ?? error.cause;
  }
  return new AppError('INTERNAL', undefined, { cause: thrown });
}

/**
 * Whether the database failed on the values that it was given, whatever wraps the failure: done with others, the same work may succeed.
 * False if it was made an error of the caller.
 */
export function failedOnData(thrown: unknown): boolean {
  for (let error = thrown, depth = 0; error instanceof Error && depth < 8; depth += 1) {
    if (error instanceof AppError && error.status < 500) return false;
    const { code, originalError } = error as { code?: unknown; originalError?: unknown };
    if (typeof code === 'string' && isDataError(code)) return true;
    error = originalError ?? error.cause;
  }
  return false;
}

/** For `catch`: null if the work failed on data, which may be that of others. @throws every other error */
export function nullOnData(thrown: unknown): null {
  if (failedOnData(thrown)) return null;
  throw thrown;
}

/** Body of the reply for an error, in the one shape that REST and GraphQL's `extensions` share. */
function toErrorBody(error: AppError, requestId: string): ErrorBody {
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

/** Where an error is in a document and its response. */
export type ErrorPlace = Pick<GraphQLError, 'nodes' | 'path'> & Partial<Pick<GraphQLError, 'source' | 'positions'>>;

/**
 * Whatever was thrown, as a GraphQL error: message, and `extensions` with `code`, `statusCode`, `reqId`, `details`.
 * Locations and path stay, since they hold names of the document's fields and positions only.
 */
export function toGraphQLError(thrown: unknown, requestId: string, at?: ErrorPlace): GraphQLError {
  const error = toAppError(thrown);
  const { message, error: _name, ...extensions } = toErrorBody(error, requestId);
  return new GraphQLError(message, {
    ...(at === undefined ? {} : { nodes: at.nodes, source: at.source, positions: at.positions, path: at.path }),
    extensions,
  });
}
