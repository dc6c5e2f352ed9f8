import { GraphQLError } from 'graphql';
import { storeFailure } from './database/sql-states.js';
import type { DetailCode } from './detail-codes.js';

/** What one error code means: its HTTP status, the short name of its class, and the sentence used when the thrower gives none. */
interface ErrorRow {
  readonly status: number;
  readonly error: string;
  readonly message: string;
  /** Seconds for `Retry-After` when the thrower gives none; every 503 and 504 has it. */
  readonly retryAfterSeconds?: number;
}

const row = (status: number, error: string, message: string): ErrorRow => ({ status, error, message });
const later = (status: 503 | 504, retryAfterSeconds: number, message: string): ErrorRow => ({
  ...row(status, status === 503 ? 'ServiceUnavailable' : 'GatewayTimeout', message),
  retryAfterSeconds,
});
const notFound = (thing: string): ErrorRow =>
  row(404, 'NotFound', `The ${thing} does not exist, or you may not know of it.`);
const conflict = (message: string): ErrorRow => row(409, 'Conflict', message);

/**
 * The one table of error codes, used by REST and by GraphQL's `extensions`. A code is a stable machine word.
 * Source: decisions 2.3.
 */
export const ERRORS = {
  MALFORMED_JSON: row(400, 'BadRequest', 'The body is not valid JSON in UTF-8.'),
  MALFORMED_REQUEST: row(
    400,
    'BadRequest',
    'The request is not well-formed; check its path, its header fields and its parameters.',
  ),
  UNSUPPORTED_ENCODING: row(400, 'BadRequest', 'The content encoding is not supported; send the body as it is.'),
  GRAPHQL_SYNTAX: row(400, 'BadRequest', 'The GraphQL document cannot be parsed.'),
  GRAPHQL_INVALID: row(400, 'BadRequest', 'The GraphQL document does not fit the schema.'),
  QUERY_TOO_COMPLEX: row(400, 'BadRequest', 'The GraphQL document asks for more than is allowed; see details.'),

  TOKEN_MISSING: row(401, 'Unauthorized', 'Send a bearer token in the Authorization header.'),
  TOKEN_INVALID: row(
    401,
    'Unauthorized',
    'The token is not known; check that all of it was copied, or ask for a new one.',
  ),
  TOKEN_EXPIRED: row(401, 'Unauthorized', 'The token has expired; ask for a new one.'),
  TOKEN_REVOKED: row(401, 'Unauthorized', 'The token has been revoked; ask for a new one.'),
  TOKEN_USES_EXHAUSTED: row(401, 'Unauthorized', 'The token has been used as often as it may; ask for a new one.'),
  TOKEN_ADDRESS_REFUSED: row(
    401,
    'Unauthorized',
    'The token may not be used from this address; have the address added to those that are trusted.',
  ),
  TOKEN_MAX_TTL_EXCEEDED: row(
    401,
    'Unauthorized',
    'Renewal would pass the longest life of the token; ask for a new one.',
  ),
  TOKEN_SCOPE_REFUSED: row(
    401,
    'Unauthorized',
    'The identity is not a member of the organization that the token is scoped to; have it made one, or use another token.',
  ),
  CREDENTIALS_INVALID: row(
    401,
    'Unauthorized',
    'The client id or the client secret is not right; check that all of both was copied.',
  ),
  CLIENT_SECRET_EXPIRED: row(401, 'Unauthorized', 'The client secret has expired; ask for a new one.'),
  CLIENT_SECRET_REVOKED: row(401, 'Unauthorized', 'The client secret has been revoked; ask for a new one.'),
  CLIENT_SECRET_USES_EXHAUSTED: row(
    401,
    'Unauthorized',
    'The client secret has been used as often as it may; ask for a new one.',
  ),
  CLIENT_SECRET_ADDRESS_REFUSED: row(
    401,
    'Unauthorized',
    'The client secret may not be used from this address; have the address added to those that are trusted.',
  ),

  PERMISSION_DENIED: row(
    403,
    'PermissionDenied',
    'You may see this, but not do this to it; ask an admin for the actions that details name.',
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
  ORGANIZATION_NOT_FOUND: notFound('organization'),
  USER_NOT_FOUND: notFound('user'),
  IDENTITY_NOT_FOUND: notFound('identity'),
  TOKEN_AUTH_NOT_FOUND: row(404, 'NotFound', 'The identity has no token authentication attached; attach it first.'),
  UNIVERSAL_AUTH_NOT_FOUND: row(
    404,
    'NotFound',
    'The identity has no universal authentication attached; attach it first.',
  ),
  CLIENT_SECRET_NOT_FOUND: notFound('client secret'),
  TOKEN_NOT_FOUND: notFound('token'),
  MEMBERSHIP_NOT_FOUND: notFound('membership'),
  ROLE_NOT_FOUND: notFound('role'),
  PROJECT_NOT_FOUND: notFound('project'),
  PROJECT_TEMPLATE_NOT_FOUND: notFound('project template'),
  KEY_NOT_FOUND: notFound('key'),
  ENVIRONMENT_NOT_FOUND: notFound('environment'),
  FOLDER_NOT_FOUND: notFound('folder'),
  SECRET_NOT_FOUND: notFound('secret'),
  IMPORT_NOT_FOUND: notFound('import'),
  SECRET_VERSION_NOT_FOUND: row(
    404,
    'NotFound',
    'The version of the secret does not exist, is not kept any more, or you may not know of it.',
  ),
  TAG_NOT_FOUND: notFound('tag'),

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

  DELETE_PROTECTED: conflict('The project is protected against deletion; set hasDeleteProtection to false first.'),
  PROJECT_SLUG_TAKEN: conflict('Another project of the organization has this slug; take another one.'),
  ORGANIZATION_SLUG_TAKEN: conflict('Another sub-organization has this slug; take another one.'),
  ORGANIZATION_IN_USE: conflict(
    'The organization still has projects or sub-organizations, which must go first, or is your own.',
  ),
  USERNAME_TAKEN: conflict('Another user of the organization has this username; take another one.'),
  ALREADY_A_MEMBER: conflict('This user or identity is a member already; change its role instead.'),
  LAST_ADMIN: conflict('The last admin cannot be removed or lose the admin role; make somebody else an admin first.'),
  ROLE_SLUG_TAKEN: conflict('Another role of the project has this slug; take another one.'),
  ROLE_IN_USE: conflict('Members of the project have this role; give them another one first.'),
  ROLE_BUILT_IN: conflict('Built-in roles cannot be changed or deleted; make a role of your own instead.'),
  TOKEN_AUTH_EXISTS: conflict('The identity has token authentication attached already; change it instead.'),
  UNIVERSAL_AUTH_EXISTS: conflict('The identity has universal authentication attached already; change it instead.'),
  ENVIRONMENT_SLUG_TAKEN: conflict('Another environment of the project has this slug; take another one.'),
  ENVIRONMENT_IMPORTED: conflict('Other environments import from this one; delete those imports first.'),
  FOLDER_NAME_TAKEN: conflict('The folder has a sub-folder of this name already; take another name.'),
  FOLDER_NOT_EMPTY: conflict('The folder holds secrets, folders or imports; delete them first, or set forceDelete.'),
  FOLDER_IMPORTED: conflict('Other folders import from this one or from one in it; delete those imports first.'),
  IMPORT_EXISTS: conflict('The folder imports from there already; take another source, or change that import.'),
  IMPORT_CYCLE: conflict(
    'What is imported imports from here itself, directly or through others; delete one of those imports first.',
  ),
  SECRET_KEY_TAKEN: conflict('The folder has a secret of this key already; take another key, or change that secret.'),
  SECRET_REFERENCED: conflict(
    'Other secrets refer to the secret; give it a key of letters, digits, - and _, which references can name.',
  ),
  REFERENCES_TOO_LONG: conflict(
    'A value that names what gets another name would be longer than 512 KiB with it; take a shorter name, or shorten the value.',
  ),
  HISTORY_TOO_SHORT: conflict(
    'The kept versions of some secrets do not reach back to this moment; take a later one, or leave out what details name.',
  ),
  TAG_SLUG_TAKEN: conflict('Another tag of the project has this slug; take another one.'),
  CONCURRENT_CHANGE: conflict('Somebody else changed this at the same moment; read it again and retry.'),

  IDEMPOTENCY_RUNNING: conflict('A request with this idempotency key still runs; try again as Retry-After says.'),
  IDEMPOTENCY_ANSWER_LOST: conflict(
    'The request took effect before, but its answer was lost. Read what it changed; do not send it with a new key.',
  ),
  IDEMPOTENCY_ANSWER_WITHHELD: conflict(
    'The request took effect before. Its answer is not repeated: it showed a credential, which is never stored, or your rights have changed.',
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
  NOT_EXPRESSIBLE: row(422, 'ValidationFailed', 'The format cannot hold what details name; export as JSON, which can.'),
  RATE_LIMITED: row(429, 'RateLimited', 'Too many requests; wait as long as Retry-After says.'),
  HEADERS_TOO_LARGE: row(
    431,
    'RequestHeaderFieldsTooLarge',
    'The header fields are larger than 16 KiB, or more than 100; send fewer or shorter ones.',
  ),

  INTERNAL: row(500, 'InternalError', 'Something went wrong on our side; quote the request id to your operator.'),

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

export type ErrorCode = keyof typeof ERRORS;

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
    message: string = ERRORS[code].message,
    options: AppErrorOptions = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'AppError';
    this.details = options.details;
    this.retryAfterSeconds = options.retryAfterSeconds ?? (ERRORS[code] as ErrorRow).retryAfterSeconds;
    this.headers = options.headers;
  }

  get status(): number {
    return ERRORS[this.code].status;
  }
}

/** The same error, with its details at other places. */
export const withPaths = (error: AppError, placed: (path: string) => string): AppError =>
  new AppError(error.code, error.message, {
    cause: error,
    ...(error.details === undefined
      ? {}
      : { details: error.details.map((detail) => ({ ...detail, path: placed(detail.path) })) }),
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
  const { status, error: name } = ERRORS[error.code];
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
