export { findUnused, insertToken } from './access-token.store.js';
export { Authenticator } from './authenticator.js';
export { ENDS_AT, FIND_HELD } from './token-check.sql.js';
export { revokeTokensOfClientSecret } from './token-family.js';
