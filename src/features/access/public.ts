export { insertToken, isUnused } from './access-token.store.js';
export { Authenticator } from './authenticator.js';
export { revokeTokensOfClientSecret } from './token-family.js';
