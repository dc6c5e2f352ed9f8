import { sql } from 'kysely';
import { anyOf, columnsOf, prepared, tablesOf } from '../../../kernel/database/tables.js';
import {
  MESSAGES,
  messageCounts,
  messagePages,
  messagesById,
  type NotificationDeliverySchema,
  SUBJECTS,
} from '../deliveries/public.js';
import { NotificationChannelSchema } from './channel.entity.js';
import type { NoticeSchema } from './notice.entity.js';
import type { NoticeKind } from './notice.rules.js';

const tables = tablesOf<typeof NoticeSchema | typeof NotificationDeliverySchema>();

/** The delivery source of notices, as rows name it. */
export const SOURCE = 'project-notice';

/** The notices of a message, soonest expiration first. `daysLeft` is null if the subject does not expire. */
export const listMessageNotices = prepared(({ messageId }: { messageId: string }) => {
  const expiresAt = sql<Date | null>`(n.facts ->> 'expiresAt')::timestamptz`;
  return tables
    .selectFrom('notification_delivery as d')
    .innerJoin('notice as n', 'n.id', 'd.subject_id')
    .select(['n.id', 'n.kind', 'n.subject_id as subjectId', 'n.facts'])
    .select(sql<number | null>`floor(extract(epoch from ${expiresAt} - now()) / 86400)::integer`.as('daysLeft'))
    .where('d.message_id', '=', messageId)
    .orderBy(expiresAt)
    .orderBy('n.created_at')
    .orderBy('n.id');
});

/** Marks notices of the last days with messages that were not accepted: their messages are written again. */
export const markUnwritten = prepared(({ ownerId, days }: { ownerId: string; days: number }) => {
  const first = sql<Date>`now() - make_interval(days => ${days}::integer)`;
  return tables
    .updateTable('notice')
    .set({ told_at: null })
    .where('owner_id', '=', ownerId)
    .where('created_at', '>', first)
    .where('told_at', 'is not', null)
    .where(
      sql<boolean>`id in (
        select d.subject_id from notification_message m join notification_delivery d on d.message_id = m.id
        where m.owner_id = ${ownerId} and m.state <> 'sent' and m.state <> 'pending' and m.created_at > ${first})`,
    )
    .returning('id');
});

const shown = MESSAGES.select([sql<NoticeKind>`m.event`.as('kind'), SUBJECTS.as('noticeCount')]).where(
  'm.source',
  '=',
  sql.lit(SOURCE),
);

/** Messages by ID, in any project. */
export const findMessages = messagesById(shown);

/** A message as read from the database. */
export type MessageRow = Awaited<ReturnType<typeof findMessages>>[number];

/** One page of messages per project, newest first. */
export const listProjectMessages = messagePages('owner_id', shown);

/** One page of messages per channel, newest first. */
export const listChannelMessages = messagePages('channel_id', shown);

/** How many messages projects and channels have. */
export const countsOfProjectMessages = messageCounts('owner_id', SOURCE);
export const countsOfChannelMessages = messageCounts('channel_id', SOURCE);

const table = tablesOf<typeof NotificationChannelSchema>().selectFrom('notification_channel');
const channels = table
  .select(columnsOf(NotificationChannelSchema, 'kinds', 'isEnabled'))
  .select([sql<readonly NoticeKind[]>`kinds`.as('kinds'), 'is_enabled as isEnabled']);

/** Channels by ID, in any project. */
export const findChannels = prepared(({ ids }: { ids: readonly string[] }) => channels.where('id', '=', anyOf(ids)));

/** A channel as read from the database, its config sealed. */
export type ChannelRow = Awaited<ReturnType<typeof findChannels>>[number];

/** Channels of projects, by name. */
export const listChannels = prepared(({ projectIds }: { projectIds: readonly string[] }) =>
  channels.where('project_id', '=', anyOf(projectIds)).orderBy(sql`name collate "C"`).orderBy('id'),
);

/** Enabled channels of a project that send notices of a kind. */
export const listChannelsOfKind = prepared(({ projectId, kind }: { projectId: string; kind: NoticeKind }) =>
  channels
    .where('project_id', '=', projectId)
    .where('is_enabled', '=', true)
    .where(sql<boolean>`(kinds = '{}' or ${kind}::text = any(kinds))`)
    .orderBy('id'),
);

/** Locks a channel. No row for people, and if it is deleted. */
export const lockChannel = prepared(({ channelId }: { channelId: string }) =>
  table.select('id').where('id', '=', channelId).forNoKeyUpdate(),
);
