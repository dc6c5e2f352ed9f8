import { type Compilable, type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';
import { ofEach } from '../../../kernel/database/plans.sql.js';
import { anyOf, prepared, tablesOf } from '../../../kernel/database/tables.js';
import { Page, timeCursorKey, timePageBounds } from '../../../kernel/paging.js';
import type { ProjectSchema } from '../../projects/public.js';
import type { MessageState, NotificationMessageSchema } from './message.entity.js';
import type { MessagePageRequest } from './message.rules.js';

const tables = tablesOf<typeof NotificationMessageSchema | typeof ProjectSchema>();

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
) => ofEach(tables, ids, (id) => wanted(id).orderBy('m.created_at', 'desc').orderBy('m.id', 'desc'));

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

/** Makes a page of the messages that were found. */
export const messagePage = <M extends { readonly id: string; readonly createdAt: Date }>(
  rows: readonly M[],
  request: MessagePageRequest,
): Page<M> => new Page(rows, request, ({ id, createdAt }) => timeCursorKey(createdAt, id));
