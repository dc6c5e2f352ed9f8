export { SEALED_NOTIFICATION_CHANNELS } from './channel.service.js';
export { notifyOfCredentialChanges } from './credentials.js';
export {
  notifyOfFailedRequest,
  notifyOfFailedRotation,
  notifyOfFailure,
  notifyOfLiveCredentials,
  notifyOfRescue,
  type RotationTrouble,
} from './events.js';
