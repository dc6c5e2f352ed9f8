export {
  CertificateAlert,
  type CertificateAlertChannelSchema,
  CertificateAlertSchema,
  channelColumns,
} from './alert.entity.js';
export {
  type AlertView,
  type ChannelRow,
  findAlerts,
  findAlertViews,
  findChannels,
  listAlertViews,
  listChannels,
} from './alert.queries.js';
export { AlertType, CertificateEventEnum, toAlertType } from './alert.resolver.js';
export {
  type AlertFilter,
  ANYWHERE as ALERTS_ANYWHERE,
  CONTENT,
  type EventType,
  type FilteredCertificate,
  matchesFilters,
  offset,
  rulesFor as alertRulesFor,
} from './alert.rules.js';
export { changesOf } from './alert.service.js';
export { dailyCheck, notifyByAlert } from './alert-checks.js';
export { channelRules, type MayCall, toChannelInputs, withKeptSecret } from './channel.rules.js';
export {
  AlertChannelType,
  AlertChannelTypeEnum,
  ChannelConfigInput,
  channelConfig,
  channelType,
  comparedChannels,
  fromInput,
  toChannelType,
  withInput,
} from './channel.type.js';
export { CERTIFICATE_CHANNELS, type ChannelChange, type ChannelStore, replaceChannels } from './channel-changes.js';
export { openForNewMessages, openForSending, recipientViolations } from './channel-people.js';
export { configSealer, openConfig, SEALED_ALERT_CHANNELS, sealConfig, sealedChannels } from './channel-sealing.js';
