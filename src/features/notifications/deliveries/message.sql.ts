// Writes of many messages with their ledger rows, and of all that wait at a channel or are retried, in one statement each.
import { sqlStatement, t } from '../../../kernel/database/statement.js';
import { HAS_CONTENT } from './undelivered.sql.js';

/** A message that is sent as if it were new. */
const PENDING_AGAIN = `state = 'pending', attempts = 0, next_at = now(), ended_at = null, error_code = null, found_at = now(),
        give_up_at = now() + make_interval(secs => :giveUpSeconds)`;

/**
 * Writes ledger rows and messages of an owner about these subjects, except those that exist. Of those, failed and cancelled ones are
 * pending again, with their IDs. The owner must be locked. Targets are those of its channels; a batched target gets one message with all
 * new subjects. The `limit` makes Postgres look up each row by the whole key: a join may read all rows of the owner for each.
 *
 * @returns the channels with messages to send
 */
export const writeDeliveries = sqlStatement({
  text: `
    with target as materialized (
      select given.*, gen_random_uuid() as batch_id
      from unnest(:channelIds::uuid[], :types::text[], :recipients::bytea[], :batched::boolean[]) as given (channel_id, type, recipient, is_batched)
    ), candidate as materialized (
      select t.*, c.id as subject_id, written.message_id as written_id,
        case when t.is_batched then t.batch_id else gen_random_uuid() end as message_id
      from target t cross join unnest(:subjectIds::uuid[]) as c (id)
        left join lateral (
          select d.message_id, (select m.state from notification_message m where m.id = d.message_id) as state
          from notification_delivery d where d.owner_id = :ownerId and d.subject_id = c.id and d.event = :event
            and d.channel_id = t.channel_id and d.recipient = t.recipient and d.occurrence = :occurrence limit 1
        ) written on true
      where written.message_id is null or written.state in ('failed', 'cancelled')
    ), again as (
      update notification_message m set ${PENDING_AGAIN}
      where m.id = any(array(select written_id from candidate)) and m.state in ('failed', 'cancelled')
      returning m.channel_id
    ), message as (
      insert into notification_message (id, organization_id, project_id, source, owner_id, channel_id, channel_type, recipient, event, next_at, give_up_at)
      select distinct message_id, :organizationId::uuid, :projectId::uuid, :source, :ownerId::uuid, channel_id, type, recipient, :event, now(),
        now() + make_interval(secs => :giveUpSeconds)
      from candidate where written_id is null
      returning channel_id
    ), delivery as (
      insert into notification_delivery (message_id, subject_id, owner_id, channel_id, recipient, event, occurrence)
      select message_id, subject_id, :ownerId, channel_id, recipient, :event, :occurrence from candidate where written_id is null
    )
    select channel_id as "channelId" from message union select channel_id from again`,
  params: {
    organizationId: t.uuid,
    projectId: t.nullable(t.uuid),
    source: t.text,
    ownerId: t.uuid,
    event: t.text,
    occurrence: t.text,
    giveUpSeconds: t.double,
    channelIds: t.array(t.uuid),
    types: t.array(t.text),
    recipients: t.array(t.bytea),
    batched: t.array(t.boolean),
    subjectIds: t.array(t.uuid),
  },
  row: { channelId: t.uuid },
});

/**
 * The target fails for every message: pauses all messages of its channel, and fails those whose deadline is before the end of the pause.
 *
 * @param extendSeconds how long they are attempted at least from now; 0: until their deadline
 */
export const deferMessages = sqlStatement({
  text: `
    with due as (
      select id, now() + make_interval(secs => :pauseSeconds) as next,
        greatest(give_up_at, now() + make_interval(secs => :extendSeconds)) as until
      from notification_message where channel_id = :channelId and next_at <= now() + make_interval(secs => :pauseSeconds)
      order by id for update
    )
    update notification_message m set give_up_at = due.until,
      state = case when due.next > due.until then 'failed' else 'pending' end,
      next_at = case when due.next <= due.until then due.next end,
      ended_at = case when due.next > due.until then now() end,
      attempts = greatest(m.attempts, :attempts), error_code = :errorCode
    from due where m.id = due.id`,
  params: {
    channelId: t.uuid,
    attempts: t.integer,
    pauseSeconds: t.double,
    extendSeconds: t.double,
    errorCode: t.text,
  },
  row: {},
});

/** Resets a failed or cancelled message to pending, as if it were new. No row if it is pending or sent. */
export const retryMessage = sqlStatement({
  text: `
    with held as (select id, state from notification_message where id = :id and state in ('failed', 'cancelled') for update)
    update notification_message m set ${PENDING_AGAIN}
    from held where m.id = held.id
    returning m.organization_id as "organizationId", m.project_id as "projectId", m.owner_id as "ownerId",
      m.channel_id as "channelId", held.state as "stateBefore"`,
  params: { id: t.uuid, giveUpSeconds: t.double },
  row: {
    organizationId: t.uuid,
    projectId: t.nullable(t.uuid),
    ownerId: t.uuid,
    channelId: t.uuid,
    stateBefore: t.text,
  },
});

/** A query that finds the channel of a message `m` while it and its alert are enabled. @param table of the alerts */
export const enabledChannelOf = (table: 'certificate_alert' | 'identity_alert'): string => `
  select from ${table}_channel c join ${table} a on a.id = c.alert_id where c.id = m.channel_id and c.is_enabled and a.is_enabled`;

/**
 * Makes a statement that resets the oldest failed and cancelled messages of a source to pending, as if they were new: of a project or an
 * owner, and of channels that are enabled. Those with nothing left to notify of stay as they are.
 *
 * @param by the column of the project or owner
 * @param enabled a query that finds the channel `m.channel_id` while it is enabled
 */
export const retryMessagesBy = (by: 'project_id' | 'owner_id', source: string, enabled: string) =>
  sqlStatement({
    text: `
      with wanted as materialized (
        select m.id from notification_message m
        where m.${by} = :ofId and m.source = '${source}' and m.state <> 'sent' and m.state <> 'pending' and ${HAS_CONTENT}
          and (:ownerId::uuid is null or m.owner_id = :ownerId) and (:channelId::uuid is null or m.channel_id = :channelId)
          and (:since::text is null or m.created_at >= :since::text::timestamptz) and exists (${enabled})
        order by m.created_at, m.id limit :most::integer
      ), again as (
        update notification_message m set ${PENDING_AGAIN}
        where not :dryRun::boolean and m.id = any(array(select id from wanted)) and m.state in ('failed', 'cancelled')
        returning m.channel_id
      )
      select found.count as found, case when :dryRun then found.count else (select count(*)::integer from again) end as count,
        array(select distinct channel_id from again) as "channelIds"
      from (select count(*)::integer as count from wanted) found`,
    params: {
      ofId: t.uuid,
      ownerId: t.nullable(t.uuid),
      channelId: t.nullable(t.uuid),
      since: t.nullable(t.text),
      dryRun: t.boolean,
      most: t.integer,
      giveUpSeconds: t.double,
    },
    row: { found: t.integer, count: t.integer, channelIds: t.array(t.uuid) },
  });
