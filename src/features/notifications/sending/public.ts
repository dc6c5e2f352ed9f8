export { CHANNEL_TYPES, type ChannelConfigs, type ChannelType, type Target, targetsOf } from './channel.js';
export { type DeliveryOutcome, outcomeOf } from './delivery.js';
export {
  expiry,
  itemWithoutTime,
  type Notification,
  type NotifiedItem,
  type Severity,
  urgencyOf,
} from './notification.js';
export { Notifier } from './notifier.js';
export { truncated } from './text.js';
