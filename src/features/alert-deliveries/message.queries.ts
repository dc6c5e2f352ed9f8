import { sql } from 'kysely';
import { prepared } from '../../kernel/database/tables.js';
import type { EventType } from '../alerts/public.js';
import { MESSAGES, messagePages, messagesById, messagesOfEach, SUBJECTS } from '../deliveries/public.js';
import { CERTIFICATE_SOURCE } from './certificate-source.js';

const shown = MESSAGES.select(['m.owner_id as alertId', sql<EventType>`m.event`.as('event')])
  .select(SUBJECTS.as('certificateCount'))
  .where('m.source', '=', sql.lit(CERTIFICATE_SOURCE.name));

/** Messages by ID, of any alert. */
export const findMessages = messagesById(shown);

/** A message as read from the database. */
export type MessageRow = Awaited<ReturnType<typeof findMessages>>[number];

/** One page of messages per alert, newest first. */
export const listMessages = messagePages('owner_id', shown);

/** The newest hundred messages of each alert about a certificate. */
export const listMessagesAbout = prepared(
  ({ alertIds, certificateId }: { alertIds: readonly string[]; certificateId: string }) =>
    messagesOfEach(
      alertIds,
      shown
        .where(sql<boolean>`m.id in (
          select d.message_id from notification_delivery d where d.owner_id = wanted.id and d.subject_id = ${certificateId})`)
        .limit(sql.lit(100)),
    ),
);
