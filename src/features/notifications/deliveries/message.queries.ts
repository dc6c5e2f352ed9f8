import { type Compilable, type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';
import type { Context } from '../../../kernel/context.js';
import { type BatchLoad, batched, batchOfLists, listKey } from '../../../kernel/database/batched.js';
import { pagePerOwner } from '../../../kernel/database/plans.sql.js';
import { anyOf, COUNT, countIn, prepared, tablesOf } from '../../../kernel/database/tables.js';
import { type CountedConnectionOf, counted, Page, timeCursorKey, timePageBounds } from '../../../kernel/paging.js';
import type { ProjectSchema } from '../../projects/public.js';
import type { MessageState, NotificationDeliverySchema, NotificationMessageSchema } from './message.entity.js';
import type { MessagePageRequest } from './message.rules.js';

type Messages = typeof NotificationMessageSchema | typeof NotificationDeliverySchema;
const tables = tablesOf<Messages | typeof ProjectSchema>();
const NOW = sql<Date>`now()`;

/** Seconds until the next message of a channel is due, 0 or more; no row if none is pending. */
export const secondsToNextMessage = prepared(({ channelId }: { channelId: string }) =>
  tables
    .selectFrom('notification_message')
    .select(sql<number>`greatest(extract(epoch from next_at - now())::double precision, 0)`.as('seconds'))
    .where('channel_id', '=', channelId)
    .where('next_at', 'is not', null)
    .orderBy('next_at')
    .limit(sql.lit(1)),
);

/** Channels of an owner that have pending messages. */
export const listSendingChannels = prepared(({ ownerId }: { ownerId: string }) =>
  tables
    .selectFrom('notification_message')
    .select('channel_id as channelId')
    .distinct()
    .where('owner_id', '=', ownerId)
    .where(sql<boolean>`state <> 'sent'`)
    .where('next_at', 'is not', null),
);

/** What a message is about. No row if it is not pending any more. */
export const findMessageContent = prepared(({ id }: { id: string }) =>
  tables
    .selectFrom('notification_message as m')
    .innerJoin('notification_delivery as d', 'd.message_id', 'm.id')
    .select(['m.organization_id as organizationId', 'm.project_id as projectId', 'm.owner_id as ownerId', 'm.event'])
    .select(['d.occurrence', sql<string[]>`array_agg(d.subject_id)`.as('subjectIds')])
    .where('m.id', '=', id)
    .where('m.next_at', 'is not', null)
    .groupBy(['m.id', 'd.occurrence']),
);

/** Makes the messages of channels due that wait for another attempt. */
export const retryNow = prepared(({ channelIds }: { channelIds: readonly string[] }) => {
  const waiting = tables
    .selectFrom('notification_message')
    .select('id')
    .where('channel_id', '=', anyOf(channelIds))
    .where('next_at', '>', NOW)
    .orderBy('id')
    .forUpdate();
  return tables
    .updateTable('notification_message')
    .set({ next_at: NOW })
    .where('id', '=', sql<string>`any(array(${waiting}))`);
});

/** What is shown of messages `m`, whatever they are about, with their projects `p`. Messages of an organization have none. */
export const MESSAGES = tables
  .selectFrom('notification_message as m')
  .innerJoin('project as p', 'p.id', 'm.project_id')
  .select(['m.id', 'p.id as projectId', 'm.channel_id as channelId', 'm.channel_type as channelType', 'm.state'])
  .select(['m.recipient as recipientDigest', 'm.attempts', 'm.next_at as nextAttemptAt', 'm.error_code as errorCode'])
  .select(['m.created_at as createdAt', 'm.ended_at as endedAt']);

/** How many subjects a message `m` has. */
export const SUBJECTS = sql<number>`(select count(*)::integer from notification_delivery d where d.message_id = m.id)`;

/** `MESSAGES` with the columns of a slice, and of its source alone. */
type Shown<O> =
  typeof MESSAGES extends SelectQueryBuilder<infer DB, infer Names, unknown> ? SelectQueryBuilder<DB, Names, O> : never;

/** Makes a statement that finds messages of a slice by ID, in any project. */
export const messagesById = <O extends object>(shown: Shown<O>) =>
  prepared(({ ids }: { ids: readonly string[] }) => shown.where('m.id', '=', anyOf(ids)) as Compilable<O>);

/** The newest messages of each owner or channel; newest first. @param wanted those of one, with their limit */
export const messagesOfEach = <O extends object>(
  ids: readonly string[],
  wanted: (id: RawBuilder<string>) => Shown<O>,
) => pagePerOwner(tables, ids, (id) => wanted(id).orderBy('m.created_at', 'desc').orderBy('m.id', 'desc'));

/**
 * Makes a statement that lists one page of messages of a slice per owner or channel, newest first.
 *
 * @param by the column of the owner or channel ID; it needs an index together with the time and the ID
 */
export const messagePages = <O extends object>(by: 'owner_id' | 'channel_id', shown: Shown<O>) =>
  prepared(({ ids, state, time, afterId, limit }: MessageBounds & { ids: readonly string[] }) =>
    messagesOfEach<O>(
      ids,
      (id) =>
        shown
          .where(sql<boolean>`${sql.ref(`m.${by}`)} = ${id} and (${state}::text is null or m.state = ${state})
            and (${time}::text is null or (m.created_at, m.id) < (${time}::text::timestamptz, ${afterId}::uuid))`)
          .limit(limit) as Shown<O>,
    ),
  );

/**
 * A `BatchLoad` of how many messages of a source owners or channels have; keys are made by `listKey`.
 *
 * @param by the column of the owner or channel ID
 */
export function messageCounts(by: 'owner_id' | 'channel_id', source: string): BatchLoad<readonly MessageCount[]> {
  const counts = prepared(({ ids, state }: { ids: readonly string[]; state: MessageState | null }) =>
    tables
      .selectFrom('notification_message as m')
      .select([`m.${by} as id`, COUNT])
      .where('m.source', '=', sql.lit(source))
      .where(`m.${by}`, '=', anyOf(ids))
      .where(sql<boolean>`(${state}::text is null or m.state = ${state})`)
      .groupBy(`m.${by}`),
  );
  return batchOfLists(
    (ctx, ids, { state }: { state: MessageState | null }) => counts(ctx, { ids, state }),
    ({ id }) => id,
  );
}

interface MessageCount {
  readonly id: string;
  readonly count: number;
}

/** The messages of a page, as parameters of `messagePages`. */
export interface MessageBounds {
  readonly state: MessageState | null;
  readonly time: string | null;
  readonly afterId: string | null;
  readonly limit: number | null;
}

/** The newest message only. */
export const NEWEST_MESSAGE: MessageBounds = { state: null, time: null, afterId: null, limit: 1 };

/** @throws VALIDATION_FAILED for a cursor of another list */
export function messageBounds(request: MessagePageRequest): MessageBounds {
  const { time, id: afterId, limit } = timePageBounds(request);
  return { state: request.state ?? null, time, afterId, limit };
}

/** Makes a page of the messages that were found. @param counts those of the owner or channel with this ID */
export const messagePage = <M extends { readonly id: string; readonly createdAt: Date }>(
  ctx: Context,
  rows: readonly M[],
  request: MessagePageRequest,
  { ownerId, counts }: { readonly ownerId: string; readonly counts: BatchLoad<readonly MessageCount[]> },
): CountedConnectionOf<M> =>
  counted(new Page(rows, request, ({ id, createdAt }) => timeCursorKey(createdAt, id)), async () =>
    countIn((await batched(ctx, counts, listKey(ownerId, { state: request.state ?? null }))) ?? []),
  );
