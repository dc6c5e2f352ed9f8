import { Field, Int, ObjectType, registerEnumType } from 'type-graphql';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { argsType, enumOfRule } from '../../../kernel/graphql/inputs.js';
import { Node } from '../../../kernel/graphql/node.js';
import type { MessageState } from './message.entity.js';
import { MessagePage, messageState } from './message.rules.js';
import { MOST_RETRIED } from './writing.js';

const MessageStateEnum = {
  PENDING: 'pending',
  SENT: 'sent',
  FAILED: 'failed',
  CANCELLED: 'cancelled',
} as const satisfies Record<string, MessageState>;
registerEnumType(MessageStateEnum, {
  name: 'AlertMessageState',
  description: 'Delivery states of a message.',
  valuesConfig: {
    PENDING: { description: 'Waiting for delivery or for another attempt.' },
    SENT: { description: 'Accepted by the target.' },
    FAILED: {
      description:
        'Given up: the target rejected it permanently, or three days of attempts failed. The next check sends it again if it is still needed.',
    },
    CANCELLED: {
      description:
        'Not sent, because the channel was deleted or disabled, or because nothing is left to notify of. The next check sends it again if it is needed after all.',
    },
  },
});
enumOfRule(messageState, MessageStateEnum);

/** Arguments of fields that list messages. */
export const MessagePageArgs = argsType(MessagePage);

/** The common fields of a message in the API. It stores no address. */
@ObjectType({ simpleResolvers: true })
export abstract class SentMessageType extends Node {
  readonly recipientDigest!: Uint8Array;

  @Field(() => MessageStateEnum, { description: 'Delivery state.' })
  state!: MessageState;

  @Field(() => Int, { description: 'Number of delivery attempts so far.' })
  attempts!: number;

  @Field(() => DateTime, {
    nullable: true,
    description: 'When the next attempt is due. Null unless the message is pending.',
  })
  nextAttemptAt!: Date | null;

  @Field(() => String, {
    nullable: true,
    description: 'Error code of the last attempt, for example `TARGET_UNREACHABLE`. Null if it did not fail.',
  })
  errorCode!: string | null;

  @Field(() => DateTime, { description: 'When the message was created.' })
  createdAt!: Date;

  @Field(() => DateTime, {
    nullable: true,
    description: 'When the message was sent, failed or was cancelled. Null while it is pending.',
  })
  endedAt!: Date | null;
}

/** What an operation that retries many messages did. */
@ObjectType('RetriedMessages', { description: 'Messages that one operation retried.', simpleResolvers: true })
class RetriedMessagesType {
  @Field(() => Int, {
    description: `Number of messages that are pending again, or would be with \`dryRun\`: the oldest first, at most ${MOST_RETRIED.toLocaleString('en-US')}.`,
  })
  count!: number;

  @Field(() => Boolean, { description: 'Whether there may be more: retry again.' })
  hasMore!: boolean;
}

/** The payload of operations that retry many messages. */
export const RETRIED_PAYLOAD = { retried: [RetriedMessagesType, 'The messages that were retried.'] } as const;
