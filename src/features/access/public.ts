export { insertToken, isUnused } from './access-token.store.js';
export { Authenticator } from './authenticator.js';
