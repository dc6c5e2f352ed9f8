export { SUPERSEDED } from './alert-delivery.sql.js';
export { announce, checkSoon } from './due.service.js';
export { AlertTestResultType } from './message.resolver.js';
