import { defineEntity, p } from '@mikro-orm/core';
import { projectColumns } from '../../../kernel/database/columns.js';
import type { ChannelType } from '../sending/public.js';

export const NotificationChannelSchema = defineEntity({
  name: 'NotificationChannel',
  tableName: 'notification_channel',
  uniques: [{ name: 'notification_channel_name_unique', properties: ['projectId', 'name'] }],
  properties: {
    ...projectColumns,
    name: p.text(),
    kinds: p.array().columnType('text[]').defaultRaw(`'{}'::text[]`),
    channelType: p.text().$type<ChannelType>(),
    configSealed: p.blob(),
    configVersion: p.integer().default(1),
    isEnabled: p.boolean().default(true),
  },
});

/** A notification channel of a project. Its config is sealed for this row and `configVersion`. */
export class NotificationChannel extends NotificationChannelSchema.class {}
NotificationChannelSchema.setClass(NotificationChannel);
