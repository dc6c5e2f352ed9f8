export { type ChannelConfigs, type ChannelType, type Target, targetsOf } from './channel.js';
export type { Delivery, Notification, NotifiedCertificate, NotifiedEvent } from './notification.js';
export { Notifier } from './notifier.js';
export type { Outcome } from './outcome.js';
