import { sql } from 'kysely';
import { anyOf, columnsOf, prepared, tablesOf } from '../../../kernel/database/tables.js';
import { NotificationChannelSchema } from './channel.entity.js';
import type { NoticeKind } from './notice.rules.js';

const table = tablesOf<typeof NotificationChannelSchema>().selectFrom('notification_channel');
const channels = table
  .select(columnsOf(NotificationChannelSchema, 'kinds', 'isEnabled'))
  .select([sql<readonly NoticeKind[]>`kinds`.as('kinds'), 'is_enabled as enabled']);

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
