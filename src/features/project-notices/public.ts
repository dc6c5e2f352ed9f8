export { tellOfCredentials } from './credentials.js';
export { tellOfRescue } from './happenings.js';
