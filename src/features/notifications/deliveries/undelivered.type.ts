import { Field, Int, ObjectType } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { type BatchLoad, batched } from '../../../kernel/database/batched.js';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { findUndelivered, type Undelivered } from './undelivered.sql.js';

/** Messages that reached nobody. */
@ObjectType('UndeliveredMessages', {
  description:
    'Messages about what nobody was notified of: their targets rejected them, or were attempted for more than an hour.',
  simpleResolvers: true,
})
export class UndeliveredMessagesType {
  @Field(() => DateTime, { description: 'When the oldest of them was created.' })
  since!: Date;

  @Field(() => Int, { description: 'Number of messages, at most 1,000.' })
  count!: number;

  @Field(() => String, {
    nullable: true,
    description: 'Error code of the newest of them that was attempted, for example `TARGET_UNREACHABLE`.',
  })
  errorCode!: string | null;
}

const byOwner: BatchLoad<Undelivered> = async (ctx, ownerIds) =>
  new Map((await findUndelivered(ctx, { ownerIds })).map((found) => [found.ownerId, found]));

/** What nobody was notified of by an alert or a project; null if there is nothing. All of a response share one statement. */
export const undeliveredOf = async (ctx: Context, ownerId: string): Promise<Undelivered | null> =>
  (await batched(ctx, byOwner, ownerId)) ?? null;
