import { sql } from 'kysely';
import { anyOf, prepared, tablesOf } from '../../kernel/database/tables.js';
import type { ChannelType } from '../notifications/public.js';
import type { NotificationChannelSchema } from './channel.entity.js';
import type { NoticeKind } from './notice.rules.js';

const channels = tablesOf<typeof NotificationChannelSchema>()
  .selectFrom('notification_channel')
  .select([
    'id',
    'organization_id as organizationId',
    'project_id as projectId',
    'name',
    sql<readonly NoticeKind[]>`kinds`.as('kinds'),
    sql<ChannelType>`channel_type`.as('channelType'),
    'config_sealed as configSealed',
    'config_version as configVersion',
    'is_enabled as enabled',
    'created_at as createdAt',
    'updated_at as updatedAt',
  ]);

/** Channels by ID, in any project. */
export const findChannels = prepared(({ ids }: { ids: readonly string[] }) => channels.where('id', '=', anyOf(ids)));

/** A channel as read from the database, its config sealed. */
export type ChannelRow = Awaited<ReturnType<typeof findChannels>>[number];

/** Channels of projects, by name. */
export const listChannels = prepared(({ projectIds }: { projectIds: readonly string[] }) =>
  channels.where('project_id', '=', anyOf(projectIds)).orderBy(sql`name collate "C"`).orderBy('id'),
);

/** Enabled channels of a project that send notices of a kind. */
export const listTakingChannels = prepared(({ projectId, kind }: { projectId: string; kind: NoticeKind }) =>
  channels
    .where('project_id', '=', projectId)
    .where('is_enabled', '=', true)
    .where(sql<boolean>`(kinds = '{}' or ${kind}::text = any(kinds))`)
    .orderBy('id'),
);
