import { sqlStatement, t } from '../../kernel/database/statement.js';

const EVENTS = t.oneOf('expiration', 'renewal', 'issuance', 'revocation');

/**
 * Writes what an alert has to send of these certificates: rows of the ledger and their messages, but for those that are there already.
 * The alert must be locked. Targets are what its channels send to; one that is batched gets one message with all certificates. The
 * limit has each row looked up by the whole key: a join may read all rows of the alert for each.
 *
 * @returns the channels with new messages
 */
export const writeDeliveries = sqlStatement({
  text: `
    with target as materialized (
      select given.*, gen_random_uuid() as batch_id
      from unnest(:channelIds::uuid[], :types::text[], :recipients::bytea[], :batched::boolean[]) as given (channel_id, type, recipient, is_batched)
    ), candidate as materialized (
      select t.*, c.id as certificate_id, case when t.is_batched then t.batch_id else gen_random_uuid() end as message_id
      from target t cross join unnest(:certificateIds::uuid[]) as c (id)
        left join lateral (
          select d.message_id from alert_delivery d where d.alert_id = :alertId and d.certificate_id = c.id and d.event = :event
            and d.channel_id = t.channel_id and d.recipient = t.recipient and d.occurrence = :occurrence limit 1
        ) written on true
      where written.message_id is null
    ), message as (
      insert into alert_message (id, organization_id, project_id, alert_id, channel_id, channel_type, recipient, event, next_at, give_up_at)
      select distinct message_id, :organizationId::uuid, :projectId::uuid, :alertId::uuid, channel_id, type, recipient, :event, now(),
        now() + make_interval(secs => :giveUpSeconds)
      from candidate
      returning channel_id
    ), delivery as (
      insert into alert_delivery (message_id, certificate_id, alert_id, channel_id, recipient, event, occurrence)
      select message_id, certificate_id, :alertId, channel_id, recipient, :event, :occurrence from candidate
    )
    select distinct channel_id as "channelId" from message`,
  params: {
    organizationId: t.uuid,
    projectId: t.uuid,
    alertId: t.uuid,
    event: EVENTS,
    occurrence: t.text,
    giveUpSeconds: t.double,
    channelIds: t.array(t.uuid),
    types: t.array(t.text),
    recipients: t.array(t.bytea),
    batched: t.array(t.boolean),
    certificateIds: t.array(t.uuid),
  },
  row: { channelId: t.uuid },
});

/** A channel with its alert and project, for whoever sends; none when it was removed. */
export const findSender = sqlStatement({
  text: `
    select c.id, c.project_id as "projectId", c.channel_type as "channelType", c.config_sealed as "configSealed",
      c.config_version as "configVersion", c.is_enabled and a.is_enabled as "isEnabled", a.id as "alertId", a.name as "alertName",
      a.alert_before as "alertBefore", p.name as "projectName"
    from certificate_alert_channel c join certificate_alert a on a.id = c.alert_id join project p on p.id = c.project_id
    where c.id = :channelId`,
  params: { channelId: t.uuid },
  row: {
    id: t.uuid,
    projectId: t.uuid,
    channelType: t.oneOf('email', 'webhook', 'slack', 'pagerduty'),
    configSealed: t.bytea,
    configVersion: t.integer,
    isEnabled: t.boolean,
    alertId: t.uuid,
    alertName: t.text,
    alertBefore: t.text,
    projectName: t.text,
  },
});

/** Messages of a channel that are to be sent now, the longest due first. */
export const listDueMessages = sqlStatement({
  text: `
    select id, recipient, event, attempts from alert_message
    where channel_id = :channelId and next_at <= now() order by next_at, id limit :most::integer`,
  params: { channelId: t.uuid, most: t.integer },
  row: { id: t.uuid, recipient: t.bytea, event: EVENTS, attempts: t.integer },
});

/** The certificates of a message, soonest expiry first, each with its first hundred names. */
export const listMessageCertificates = sqlStatement({
  text: `
    select c.id, c.serial_number as "serialNumber", c.common_name as "commonName", c.sans[1:100] as sans, c.profile_slug as "profileName",
      c.not_before as "notBefore", c.not_after as "notAfter", c.status,
      floor(extract(epoch from c.not_after - now()) / 86400)::integer as "daysLeft"
    from alert_delivery d join certificate c on c.id = d.certificate_id
    where d.message_id = :messageId order by c.not_after, c.id`,
  params: { messageId: t.uuid },
  row: {
    id: t.uuid,
    serialNumber: t.text,
    commonName: t.text,
    sans: t.array(t.text),
    profileName: t.nullable(t.text),
    notBefore: t.time,
    notAfter: t.time,
    status: t.text,
    daysLeft: t.integer,
  },
});

/** Writes down what came of sending: it is sent, failed for good, or pending until the pause is over; given up when that is too late. */
export const settleMessage = sqlStatement({
  text: `
    with judged as (
      select id, case
          when :outcome <> 'temporary' then :outcome
          when now() + make_interval(secs => :pauseSeconds) > give_up_at then 'failed'
          else 'pending'
        end as next
      from alert_message where id = :id and state = 'pending' for update
    )
    update alert_message m set state = judged.next, attempts = m.attempts + 1, error_code = :errorCode,
      next_at = case when judged.next = 'pending' then now() + make_interval(secs => :pauseSeconds) end,
      ended_at = case when judged.next <> 'pending' then now() end
    from judged where m.id = judged.id
    returning m.state`,
  params: {
    id: t.uuid,
    outcome: t.oneOf('sent', 'failed', 'temporary'),
    pauseSeconds: t.double,
    errorCode: t.nullable(t.text),
  },
  row: { state: t.oneOf('sent', 'failed', 'pending') },
});

/** Cancels what waits at channels that are gone or disabled; one that was enabled meanwhile keeps what it has. */
export const cancelMessages = sqlStatement({
  text: `
    update alert_message set state = 'cancelled', next_at = null, ended_at = now(), error_code = :errorCode
    where channel_id = any(:channelIds) and next_at is not null and not exists (
      select from certificate_alert_channel c join certificate_alert a on a.id = c.alert_id
      where c.id = alert_message.channel_id and c.is_enabled and a.is_enabled)
    returning id`,
  params: { channelIds: t.array(t.uuid), errorCode: t.text },
  row: { id: t.uuid },
});

/** Seconds until the next message of a channel is due, 0 or more; null when none is pending. */
export const secondsToNextMessage = sqlStatement({
  text: `
    select greatest(extract(epoch from min(next_at) - now())::double precision, 0) as seconds
    from alert_message where channel_id = :channelId and next_at is not null`,
  params: { channelId: t.uuid },
  row: { seconds: t.nullable(t.double) },
});

/** A target that fails fails for all: nothing is tried at its channel before the pause is over, and what that is too late for has failed. */
export const deferMessages = sqlStatement({
  text: `
    update alert_message set
      state = case when now() + make_interval(secs => :pauseSeconds) > give_up_at then 'failed' else 'pending' end,
      next_at = case when now() + make_interval(secs => :pauseSeconds) > give_up_at then null else now() + make_interval(secs => :pauseSeconds) end,
      ended_at = case when now() + make_interval(secs => :pauseSeconds) > give_up_at then now() end,
      attempts = greatest(attempts, :attempts), error_code = :errorCode
    where channel_id = :channelId and next_at <= now() + make_interval(secs => :pauseSeconds)`,
  params: { channelId: t.uuid, attempts: t.integer, pauseSeconds: t.double, errorCode: t.text },
  row: {},
});

/** Locks an alert against others that write deliveries of it. None when it is gone or disabled. */
export const lockEnabledAlert = sqlStatement({
  text: `
    select id, organization_id as "organizationId", project_id as "projectId" from certificate_alert
    where id = :id and is_enabled for no key update`,
  params: { id: t.uuid },
  row: { id: t.uuid, organizationId: t.uuid, projectId: t.uuid },
});
