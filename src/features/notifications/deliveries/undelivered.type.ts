import { Int } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { type BatchLoad, batched } from '../../../kernel/database/batched.js';
import { DateTime } from '../../../kernel/graphql/date-time.js';
import { objectType, orNull } from '../../../kernel/graphql/object-types.js';
import { findUndelivered, type Undelivered } from './undelivered.sql.js';

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
