import { Int } from 'type-graphql';
import * as z from 'zod';
import type { Context } from '../../../kernel/context.js';
import { type BatchLoad, batched } from '../../../kernel/database/batched.js';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { enumType } from '../../../kernel/graphql/enums.js';
import { argsType } from '../../../kernel/graphql/inputs.js';
import { type Fields, hiddenField, objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { boundedPaging } from '../../../rest/route.js';
import type { MessageState } from './message.entity.js';
import { MessagePage, messageState } from './message.rules.js';
import { findUndelivered, type Undelivered } from './message.sql.js';
import { MAX_RETRIED } from './writing.js';

const MessageStateEnum = enumType<MessageState>(
  'AlertMessageState',
  'Delivery states of a message.',
  {
    pending: 'Waiting for delivery or for another attempt.',
    sent: 'Accepted by the target.',
    failed:
      'Given up: the target rejected it permanently, or three days of attempts failed. The next check sends it again if it is still needed.',
    cancelled:
      'Not sent, because the channel was deleted or disabled, or because nothing is left to notify of. The next check sends it again if it is needed after all.',
  },
  messageState,
);

/** Arguments of fields that list messages. */
export const MessagePageArgs = argsType(MessagePage);

/** The common fields of a message in the API. It stores no address. */
export const sentMessage = {
  recipientDigest: hiddenField<Uint8Array>(),
  state: [MessageStateEnum, 'Delivery state.'],
  attempts: [Int, 'Number of delivery attempts so far.'],
  nextAttemptAt: [orNull(DateTime), 'When the next attempt is due. Null unless the message is pending.'],
  errorCode: [
    orNull(String),
    'Error code of the last attempt, for example `TARGET_UNREACHABLE`. Null if it did not fail.',
  ],
  createdAt: [DateTime, 'When the message was created.'],
  endedAt: [orNull(DateTime), 'When the message was sent, failed or was cancelled. Null while it is pending.'],
} as const satisfies Fields;

/** What an operation that retries many messages did. */
const RetriedMessagesType = objectType('RetriedMessages', 'Messages that one operation retried.', {
  count: [
    Int,
    `Number of messages that are pending again, or would be with \`dryRun\`: the oldest first, at most ${MAX_RETRIED.toLocaleString('en-US')}.`,
  ],
  hasMore: [Boolean, 'Whether there may be more: retry again.'],
});

/** The payload of operations that retry many messages. */
export const RETRIED_PAYLOAD = { retried: [RetriedMessagesType, 'The messages that were retried.'] } as const;

/** Messages that reached nobody. */
export const UndeliveredMessagesType = objectType(
  'UndeliveredMessages',
  'Messages about what nobody was notified of: their targets rejected them, or were attempted for more than an hour.',
  {
    since: [DateTime, 'When the oldest of them was created.'],
    count: [Int, 'Number of messages, at most 1,000.'],
    errorCode: [
      orNull(String),
      'Error code of the newest of them that was attempted, for example `TARGET_UNREACHABLE`.',
    ],
  },
);
export type UndeliveredMessagesType = InstanceType<typeof UndeliveredMessagesType>;

const byOwner: BatchLoad<Undelivered> = async (ctx, ownerIds) =>
  new Map((await findUndelivered(ctx, { ownerIds })).map((found) => [found.ownerId, found]));

/** What nobody was notified of by an alert or a project; null if there is nothing. All of a response share one statement. */
export const undeliveredOf = async (ctx: Context, ownerId: string): Promise<Undelivered | null> =>
  (await batched(ctx, byOwner, ownerId)) ?? null;

/** The query of REST lists of messages. */
export const MessageQuery = z.strictObject({
  state: messageState.optional().meta({ description: 'Only items in this state.' }),
  ...boundedPaging,
});
