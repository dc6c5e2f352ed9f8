import { sqlStatement, t } from '../../../kernel/database/statement.js';
import { MESSAGE_COLUMNS, MESSAGE_ROW, messagePages, messagesById } from '../../deliveries/public.js';
import { NOTICE_KINDS } from '../notice.rules.js';
import { NOTICE_SOURCE } from '../notice-source.js';

const SHOWN = {
  source: NOTICE_SOURCE.name,
  columns: `${MESSAGE_COLUMNS}, m.event as kind,
    (select count(*)::integer from notification_delivery d where d.message_id = m.id) as "noticeCount"`,
  row: { ...MESSAGE_ROW, kind: t.oneOf(...NOTICE_KINDS), noticeCount: t.integer },
} as const;

/** Messages by ID, in any project. */
export const findMessages = messagesById(SHOWN);

/** A message as read from the database. */
export type MessageRow = Awaited<ReturnType<typeof findMessages>>[number];

/** One page of messages per project, newest first. */
export const listProjectMessages = messagePages('owner_id', SHOWN);

/** One page of messages per channel, newest first. */
export const listChannelMessages = messagePages('channel_id', SHOWN);

/** Possible recipients of messages to people: admins of these projects, and members whom the notices of these messages name. */
export const listPeopleOf = sqlStatement({
  text: `
    select distinct p.id as "projectId", u.username
    from project p join project_member_now m on m.project_id = p.id join app_user u on u.id = m.member_id
    where p.id = any(:projectIds) and ('admin' = any(m.roles) or u.id = any(array(
      select jsonb_array_elements_text(n.facts -> 'recipientIds')::uuid
      from notification_delivery d join notice n on n.id = d.subject_id where d.message_id = any(:messageIds))))`,
  params: { projectIds: t.array(t.uuid), messageIds: t.array(t.uuid) },
  row: { projectId: t.uuid, username: t.text },
});
