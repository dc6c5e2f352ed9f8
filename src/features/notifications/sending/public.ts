export {
  CHANNEL_TYPES,
  type ChannelConfigs,
  type ChannelType,
  type Notification,
  type NotifiedItem,
  type Outcome,
  outcomeOf,
  plainItem,
  type Target,
  targetsOf,
} from './notification.js';
export { Notifier } from './providers/notifier.js';
export { expiry, fitted, type Severity, urgencyOf } from './text.js';
