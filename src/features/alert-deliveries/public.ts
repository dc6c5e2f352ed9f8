export { announce, checkSoon } from './due.service.js';
export { AlertTestResultType } from './trial.resolver.js';
