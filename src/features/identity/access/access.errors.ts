import { declareErrors, notFound, row } from '../../../kernel/errors.js';

/** Error codes of tokens and logins. */
const ERRORS = declareErrors({
  TOKEN_EXPIRED: row(401, 'Unauthorized', 'The token has expired. Create a new one.'),
  TOKEN_REVOKED: row(401, 'Unauthorized', 'The token has been revoked. Create a new one.'),
  TOKEN_USES_EXHAUSTED: row(401, 'Unauthorized', 'The token has reached its maximum number of uses. Create a new one.'),
  TOKEN_ADDRESS_REFUSED: row(
    401,
    'Unauthorized',
    'The token cannot be used from this IP address. Add the address to the trusted IPs of the identity.',
  ),
  TOKEN_MAX_TTL_EXCEEDED: row(
    401,
    'Unauthorized',
    'The renewal would exceed the maximum lifetime of the token. Create a new one.',
  ),
  TOKEN_SCOPE_REFUSED: row(
    401,
    'Unauthorized',
    'The identity is not a member of the organization that the token is scoped to. Add it to the organization, or use another token.',
  ),
  CREDENTIALS_INVALID: row(
    401,
    'Unauthorized',
    'The client ID or the client secret is invalid. Check that both were copied completely.',
  ),
  CLIENT_SECRET_EXPIRED: row(401, 'Unauthorized', 'The client secret has expired. Create a new one.'),
  CLIENT_SECRET_REVOKED: row(401, 'Unauthorized', 'The client secret has been revoked. Create a new one.'),
  CLIENT_SECRET_USES_EXHAUSTED: row(
    401,
    'Unauthorized',
    'The client secret has reached its maximum number of uses. Create a new one.',
  ),
  CLIENT_SECRET_ADDRESS_REFUSED: row(
    401,
    'Unauthorized',
    'The client secret cannot be used from this IP address. Add the address to the trusted IPs of the identity.',
  ),
  LOGIN_FAILED: row(
    401,
    'Unauthorized',
    'The login failed. The audit trail of the organization says why; check the identity ID, and that the token is new and for this service.',
  ),
  TOKEN_NOT_FOUND: notFound('token'),
});

declare module '../../../kernel/errors.js' {
  interface ErrorTables {
    readonly access: typeof ERRORS;
  }
}
