export {
  CHANNEL_TYPES,
  type ChannelConfigs,
  type ChannelType,
  type DeliveryOutcome,
  expiry,
  itemWithoutTime,
  type Notification,
  type NotifiedItem,
  outcomeOf,
  type Severity,
  type Target,
  targetsOf,
  truncated,
  urgencyOf,
} from './notification.js';
export { Notifier } from './notifier.js';
