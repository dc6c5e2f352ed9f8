export { insertToken } from './access-token.store.js';
export { Authenticator } from './authenticator.js';
