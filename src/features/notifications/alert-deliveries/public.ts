export { SUPERSEDED } from './alert-delivery.sql.js';
export { checkSoon, notifyOfCertificateEvent } from './due.service.js';
export { AlertTestResultType } from './message.resolver.js';
