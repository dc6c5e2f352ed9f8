export { MESSAGE_STATES, type MessageState, NotificationDelivery, NotificationMessage } from './message.entity.js';
export { cancelUnless } from './message.sql.js';
export { digestsOf, digestTextOf, ledgerTargets } from './recipients.js';
export { sendJob } from './send-job.js';
export type { Source } from './source.js';
export { refuseFailures, TRIAL_LIMIT_MS, type Trial, tryTargets } from './trials.js';
export { type LedgerTarget, retry, writeMessages } from './writing.js';
