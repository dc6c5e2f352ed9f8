export {
  CHANNEL_TYPES,
  type ChannelConfigs,
  type ChannelType,
  expiry,
  fitted,
  type Notification,
  type NotifiedItem,
  type Outcome,
  outcomeOf,
  plainItem,
  type Severity,
  type Target,
  targetsOf,
  urgencyOf,
} from './notification.js';
export { Notifier } from './providers/notifier.js';
