export { type ChannelRow, findAlerts, findChannels, listChannels } from './alert.queries.js';
export {
  ANYWHERE as ALERTS_ANYWHERE,
  CONTENT,
  type EventType,
  offset,
  rulesFor as alertRulesFor,
} from './alert.rules.js';
export { AlertType, CertificateEventEnum, toAlertType } from './alert.type.js';
export { type AlertView, findAlertViews, listAlertViews } from './alert.view.js';
export { completed } from './channel.rules.js';
export { AlertChannelType, AlertChannelTypeEnum, ChannelConfigInput, toChannelType } from './channel.type.js';
export { openForSending, openForTelling, recipientFaults } from './channel-people.js';
export { configSealer, openConfig, sealConfig } from './channel-sealing.js';
export { type AlertFilter, type FilteredCertificate, matchesFilters } from './filter.rules.js';
