export { type ChannelRow, findAlerts, findChannels, listChannels } from './alert.queries.js';
export { CONTENT, type EventType } from './alert.rules.js';
export { AlertType, CertificateEventEnum, toAlertType } from './alert.type.js';
export { type AlertView, findAlertViews, listAlertViews } from './alert.view.js';
export { AlertChannelType, AlertChannelTypeEnum, toChannelType } from './channel.type.js';
export { openConfig } from './channel-sealing.js';
export { type AlertFilter, type FilteredCertificate, matchesFilters } from './filter.rules.js';
