import { sql } from 'kysely';
import { anyOf, prepared, tablesOf } from '../../../kernel/database/tables.js';
import type { NotificationDeliverySchema, NotificationMessageSchema } from './message.entity.js';

const tables = tablesOf<typeof NotificationMessageSchema | typeof NotificationDeliverySchema>();
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
export const makeDue = prepared(({ channelIds }: { channelIds: readonly string[] }) => {
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
