export { notifyOfCredentialChanges } from './credentials.js';
export { notifyOfFailedRequest, notifyOfRescue } from './events.js';
