// Certificates and authorities in one list, and figures of many alerts by lateral joins.
import { type RowFrom, sqlStatement, t } from '../../../kernel/database/statement.js';
import { enabledChannelOf, retryMessagesBy } from '../deliveries/public.js';
import { NOTIFIED, SUBJECT, SUPERSEDED } from './due.sql.js';

/** Retries messages of the alerts of a project. */
export const retryMessages = retryMessagesBy('project_id', 'certificate-alert', enabledChannelOf('certificate_alert'));

/**
 * The certificates of a message, soonest expiration first, each with its first hundred names. Of those that expire, the ones that are
 * neither revoked nor replaced.
 */
export const listMessageCertificates = sqlStatement({
  text: `
    select ${NOTIFIED.text}, c.sans[1:100] as sans, c.status,
      floor(extract(epoch from c.not_after - now()) / 86400)::integer as "daysLeft"
    from notification_message m cross join ${SUBJECT}
    where m.id = :messageId and c.id = any(array(select subject_id from notification_delivery where message_id = :messageId))
      and (m.event <> 'expiration' or c.status = 'active' and ${SUPERSEDED} is false)
    order by c.not_after, c.id`,
  params: { messageId: t.uuid },
  row: { ...NOTIFIED.row, status: t.text, daysLeft: t.integer },
});

/** Stores the result of a test of channels: null if all targets accepted it. */
export const storeTests = sqlStatement({
  text: `
    update certificate_alert_channel c set tested_at = now(), test_error_code = given.error_code
    from unnest(:channelIds::uuid[], :versions::integer[], :errorCodes::text[]) as given (id, version, error_code)
    where c.id = given.id and c.config_version = given.version`,
  params: { channelIds: t.array(t.uuid), versions: t.array(t.integer), errorCodes: t.array(t.nullable(t.text)) },
  row: {},
});

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
export type RunRow = RowFrom<typeof listLastRuns>;
