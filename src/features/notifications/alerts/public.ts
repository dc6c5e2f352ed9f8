export {
  CertificateAlert,
  type CertificateAlertChannelSchema,
  CertificateAlertSchema,
  channelColumns,
} from './alert.entity.js';
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
export { channelRules, completed, type MayCall, toGivenChannels } from './channel.rules.js';
export {
  AlertChannelType,
  AlertChannelTypeEnum,
  ChannelConfigInput,
  channelConfig,
  channelType,
  fromInput,
  inInput,
  toChannelType,
} from './channel.type.js';
export { type ChannelChange, type ChannelStore, replaceChannels } from './channel-changes.js';
export { openForSending, openForTelling, recipientViolations } from './channel-people.js';
export { configSealer, openConfig, SEALED_ALERT_CHANNELS, sealConfig, sealedChannels } from './channel-sealing.js';
export { type AlertFilter, type FilteredCertificate, matchesFilters } from './filter.rules.js';
