import { Field, Int, ObjectType, registerEnumType } from 'type-graphql';
import { DateTime } from '../../kernel/graphql/date-time.js';
import { argsType, enumOfRule } from '../../kernel/graphql/inputs.js';
import { Node } from '../../kernel/graphql/node.js';
import type { MessageState } from './message.entity.js';
import { MessagePage, messageState } from './message.rules.js';

const MessageStateEnum = {
  PENDING: 'pending',
  SENT: 'sent',
  FAILED: 'failed',
  CANCELLED: 'cancelled',
} as const satisfies Record<string, MessageState>;
registerEnumType(MessageStateEnum, {
  name: 'AlertMessageState',
  description: 'How far a message of a certificate alert or of a project is.',
  valuesConfig: {
    PENDING: { description: 'It is to be sent, or to be sent again.' },
    SENT: { description: 'The target has taken it.' },
    FAILED: { description: 'It was given up: the target would never take it, or did not for three days.' },
    CANCELLED: { description: 'Its channel was removed or disabled before it was sent.' },
  },
});
enumOfRule(messageState, MessageStateEnum);

/** Arguments of fields that list messages. */
export const MessagePageArgs = argsType(MessagePage);

/** What the API shows of each message. No address is stored with it. */
@ObjectType({ simpleResolvers: true })
export abstract class SentMessageType extends Node {
  readonly recipientDigest!: Buffer;

  @Field(() => MessageStateEnum, { description: 'How far it is.' })
  state!: MessageState;

  @Field(() => Int, { description: 'How often it was tried.' })
  attempts!: number;

  @Field(() => DateTime, { nullable: true, description: 'When it is tried next; null unless it is pending.' })
  nextAttemptAt!: Date | null;

  @Field(() => String, {
    nullable: true,
    description: 'Why the last attempt failed, as `TARGET_UNREACHABLE`; null without a failure.',
  })
  errorCode!: string | null;

  @Field(() => DateTime, { description: 'When there was something to send.' })
  createdAt!: Date;

  @Field(() => DateTime, { nullable: true, description: 'When it was sent or given up; null while it is pending.' })
  endedAt!: Date | null;
}
