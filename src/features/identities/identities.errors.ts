import { declareDetailCodes } from '../../kernel/detail-codes.js';
import { conflict, declareErrors, notFound, row } from '../../kernel/errors.js';

/** Error codes of machine identities and their ways to log in. */
const ERRORS = declareErrors({
  IDENTITY_NOT_FOUND: notFound('identity'),
  TOKEN_AUTH_NOT_FOUND: row(404, 'NotFound', 'The identity has no token authentication attached; attach it first.'),
  UNIVERSAL_AUTH_NOT_FOUND: row(
    404,
    'NotFound',
    'The identity has no universal authentication attached; attach it first.',
  ),
  CLIENT_SECRET_NOT_FOUND: notFound('client secret'),
  TOKEN_AUTH_EXISTS: conflict('The identity has token authentication attached already; change it instead.'),
  UNIVERSAL_AUTH_EXISTS: conflict('The identity has universal authentication attached already; change it instead.'),
});

/** What entries of `details` say of them. */
const DETAILS = declareDetailCodes({
  OWNED_BY_PROJECT: 'A project owns the identity, which has no role in the organization.',
  TTL_ABOVE_MAXIMUM: 'The time to live is longer than the longest one that is allowed.',
  LIMITED_TOKEN: 'The token has a limit on uses, or less life than the configuration of its identity gives.',
});

declare module '../../kernel/errors.js' {
  interface ErrorTables {
    readonly identities: typeof ERRORS;
  }
}

declare module '../../kernel/detail-codes.js' {
  interface DetailCodes {
    readonly identities: keyof typeof DETAILS;
  }
}
