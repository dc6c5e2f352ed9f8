import { declareErrors, notFound, row } from '../../kernel/errors.js';

/** Error codes of tokens and logins. */
const ERRORS = declareErrors({
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
  TOKEN_NOT_FOUND: notFound('token'),
});

declare module '../../kernel/errors.js' {
  interface ErrorTables {
    readonly access: typeof ERRORS;
  }
}
