export { IS_SUPERSEDED } from './alert-delivery.sql.js';
export { enqueueAlertCheck, notifyOfCertificateEvent } from './due.service.js';
export { AlertTestResultType } from './message.resolver.js';
