export { tellOfCredentials } from './credentials.js';
export { tellOfFailedRequest, tellOfRescue } from './happenings.js';
