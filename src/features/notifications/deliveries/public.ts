export {
  NotificationDelivery,
  type NotificationDeliverySchema,
  NotificationMessage,
  type NotificationMessageSchema,
} from './message.entity.js';
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
} from './message.queries.js';
export { MessagePage, type MessagePageRequest, RETRIED } from './message.rules.js';
export {
  enabledChannelOf,
  findUndelivered,
  HAS_CONTENT,
  listUnsentOwnerIds,
  retryMessagesBy,
  type Undelivered,
  undeliveredOfOwner,
  unsentOwners,
} from './message.sql.js';
export {
  MessagePageArgs,
  MessageQuery,
  RETRIED_PAYLOAD,
  sentMessage,
  UndeliveredMessagesType,
  undeliveredOf,
} from './message.type.js';
export { addressAmong, digestsOf, isForUnread, ledgerTargets } from './recipients.js';
export { sendJob } from './send-job.js';
export { refuseFailures, TRIAL_LIMIT_MS, type Trial, tryTargets } from './trials.js';
export {
  type LedgerTarget,
  type RetriedCount,
  retry,
  retryMany,
  type Source,
  sendSoon,
  writeMessages,
} from './writing.js';
