export { SEALED_NOTIFICATION_CHANNELS } from './channel.service.js';
export {
  notifyOfCredentialChanges,
  notifyOfFailedRequest,
  notifyOfFailedRotation,
  notifyOfFailure,
  notifyOfLiveCredentials,
  notifyOfRescue,
  type RotationTrouble,
} from './events.js';
