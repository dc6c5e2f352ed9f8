export { notifyOfCredentialChanges } from './credentials.js';
export { notifyOfFailedRequest, notifyOfFailure, notifyOfRescue } from './events.js';
