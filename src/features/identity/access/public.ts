export { Authenticator } from './authenticator.js';
export { ENDS_AT, FIND_RIGHTS } from './token-check.sql.js';
export { revokeTokensOfClientSecret } from './token-family.js';
export { findUnused, insertToken } from './token-issuing.js';
