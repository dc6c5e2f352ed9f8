import { sqlStatement, t } from '../../kernel/database/statement.js';
import {
  MESSAGE_COLUMNS,
  MESSAGE_ROW,
  MESSAGES_IN_PROJECTS,
  messagePages,
  messagesById,
} from '../deliveries/public.js';
import { CERTIFICATE_SOURCE } from './certificate-source.js';

const COLUMNS = `${MESSAGE_COLUMNS}, m.owner_id as "alertId", m.event,
  (select count(*)::integer from notification_delivery d where d.message_id = m.id) as "certificateCount"`;

const ROW = {
  ...MESSAGE_ROW,
  alertId: t.uuid,
  event: t.oneOf('expiration', 'renewal', 'issuance', 'revocation'),
  certificateCount: t.integer,
} as const;

const SHOWN = { source: CERTIFICATE_SOURCE.name, columns: COLUMNS, row: ROW } as const;

/** Messages by ID, of any alert. */
export const findMessages = messagesById(SHOWN);

/** A message as read from the database. */
export type MessageRow = Awaited<ReturnType<typeof findMessages>>[number];

/** One page of messages per alert, newest first. */
export const listMessages = messagePages('owner_id', SHOWN);

/**
 * The last run of each alert and its result. Alerts that never ran have no row. A message with nothing left to notify of counts as no
 * failure.
 */
export const listLastRuns = sqlStatement({
  text: `
    select wanted.id as "alertId", last.at as "timestamp", run.status, run."errorCode", run."messageCount", run."sentCount"
    from unnest(:alertIds::uuid[]) as wanted (id)
      cross join lateral (select max(found_at) as at from notification_message where owner_id = wanted.id) last
      cross join lateral (
        select case when bool_or(is_failed) then 'failed' when bool_or(state = 'pending') then 'pending' else 'success' end as status,
          coalesce(min(error_code) filter (where is_failed), min(error_code)) as "errorCode",
          count(*)::integer as "messageCount", count(*) filter (where state = 'sent')::integer as "sentCount"
        from (
          select state, error_code,
            state = 'failed' or state = 'cancelled' and error_code is distinct from 'CERTIFICATES_REMOVED' as is_failed
          from notification_message where owner_id = wanted.id and found_at = last.at) m) run
    where last.at is not null`,
  params: { alertIds: t.array(t.uuid) },
  row: {
    alertId: t.uuid,
    timestamp: t.time,
    status: t.oneOf('pending', 'success', 'failed'),
    errorCode: t.nullable(t.text),
    messageCount: t.integer,
    sentCount: t.integer,
  },
});

/** The last run of an alert. */
export type RunRow = Awaited<ReturnType<typeof listLastRuns>>[number];

/** The newest hundred messages of each alert about a certificate. */
export const listMessagesAbout = sqlStatement({
  text: `
    select found.* from unnest(:alertIds::uuid[]) as wanted (id) cross join lateral (
      select ${COLUMNS} from ${MESSAGES_IN_PROJECTS}
      where m.id in (select d.message_id from notification_delivery d where d.owner_id = wanted.id and d.subject_id = :certificateId)
      order by m.created_at desc, m.id desc limit 100) found
    order by found."createdAt" desc, found.id desc`,
  params: { alertIds: t.array(t.uuid), certificateId: t.uuid },
  row: ROW,
});

/** The certificates of a message that expire first. */
export const listFirstCertificates = sqlStatement({
  text: `
    select wanted.id as "messageId", found.id as "certificateId"
    from unnest(:messageIds::uuid[]) as wanted (id) cross join lateral (
      select c.id, c.not_after from notification_delivery d join certificate c on c.id = d.subject_id
      where d.message_id = wanted.id order by c.not_after, c.id limit :most::integer) found
    order by wanted.id, found.not_after, found.id`,
  params: { messageIds: t.array(t.uuid), most: t.integer },
  row: { messageId: t.uuid, certificateId: t.uuid },
});
