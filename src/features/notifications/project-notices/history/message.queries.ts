import { sql } from 'kysely';
import { MESSAGES, messagePages, messagesById, SUBJECTS } from '../../deliveries/public.js';
import type { NoticeKind } from '../notice.rules.js';
import { NOTICE_SOURCE } from '../notice-source.js';

const shown = MESSAGES.select([sql<NoticeKind>`m.event`.as('kind'), SUBJECTS.as('noticeCount')]).where(
  'm.source',
  '=',
  sql.lit(NOTICE_SOURCE.name),
);

/** Messages by ID, in any project. */
export const findMessages = messagesById(shown);

/** A message as read from the database. */
export type MessageRow = Awaited<ReturnType<typeof findMessages>>[number];

/** One page of messages per project, newest first. */
export const listProjectMessages = messagePages('owner_id', shown);

/** One page of messages per channel, newest first. */
export const listChannelMessages = messagePages('channel_id', shown);
