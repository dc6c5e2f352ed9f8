export {
  MESSAGES,
  type MessageBounds,
  messageBounds,
  messagePage,
  messagePages,
  messagesById,
  messagesOfEach,
  NEWEST_MESSAGE,
  SUBJECTS,
} from './history.queries.js';
export {
  NotificationDelivery,
  type NotificationDeliverySchema,
  NotificationMessage,
  type NotificationMessageSchema,
} from './message.entity.js';
export { MessageQuery } from './message.routes.js';
export { MessagePage, type MessagePageRequest, RETRIED } from './message.rules.js';
export { enabledChannelOf, retryMessagesBy } from './message.sql.js';
export { MessagePageArgs, RETRIED_PAYLOAD, sentMessage } from './message.type.js';
export { addressAmong, digestsOf, isForUnread, ledgerTargets } from './recipients.js';
export { sendJob } from './send-job.js';
export type { Source } from './source.js';
export { refuseFailures, TRIAL_LIMIT_MS, type Trial, tryTargets } from './trials.js';
export {
  findUndelivered,
  HAS_CONTENT,
  listUnsentOwnerIds,
  type Undelivered,
  undeliveredOfOwner,
  unsentOwners,
} from './undelivered.sql.js';
export { UndeliveredMessagesType, undeliveredOf } from './undelivered.type.js';
export { type LedgerTarget, type RetriedCount, retry, retryMany, sendSoon, writeMessages } from './writing.js';
