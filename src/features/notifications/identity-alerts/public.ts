export { checkAfterChanges } from './due.service.js';
export { SEALED_IDENTITY_ALERT_CHANNELS } from './identity-alert.queries.js';
