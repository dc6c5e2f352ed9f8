export { type ChannelRow, listChannels } from './alert.queries.js';
export type { EventType } from './alert.rules.js';
export { openConfig } from './channel-sealing.js';
export { type AlertFilter, type FilteredCertificate, matchesFilters } from './filter.rules.js';
