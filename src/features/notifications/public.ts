export { type ChannelConfigs, type ChannelType, type Target, targetsOf } from './channel.js';
export type { Notification, NotifiedCertificate, NotifiedEvent } from './notification.js';
export type { Outcome } from './outcome.js';
export { Notifier } from './providers/notifier.js';
