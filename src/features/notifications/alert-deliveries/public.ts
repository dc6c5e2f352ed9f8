export { announce, checkSoon } from './due.service.js';
export { SUPERSEDED } from './due.sql.js';
export { AlertTestResultType } from './trial.resolver.js';
