export { type ChannelTestResult, refuseFailures, TEST_LIMIT_MS, testChannelTargets } from './channel-tests.js';
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
  messageCounts,
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
export { addressByDigest, digestsOf, isForUndecryptableChannel, recipientsOf } from './recipients.js';
export { sendJob } from './send-job.js';
export {
  type Recipient,
  type RetriedCount,
  retry,
  retryMany,
  type Source,
  wakeSenders,
  writeMessages,
} from './writing.js';
