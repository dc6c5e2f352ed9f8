export { notifyOfCredentialChanges } from './credentials.js';
export {
  notifyOfFailedRequest,
  notifyOfFailedRotation,
  notifyOfFailure,
  notifyOfRescue,
  type RotationTrouble,
} from './events.js';
