export { CHANNEL_TYPES, type ChannelConfigs, type ChannelType, type Target, targetsOf } from './channel.js';
export { type Notification, type NotifiedItem, plainItem } from './notification.js';
export { type Outcome, outcomeOf } from './outcome.js';
export { Notifier } from './providers/notifier.js';
export { expiry, fitted, type Severity, urgencyOf } from './text.js';
