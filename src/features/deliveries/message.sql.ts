import { sqlStatement, t } from '../../kernel/database/statement.js';

/**
 * Writes ledger rows and messages of an owner about these subjects, except those that exist. The owner must be locked. Targets are those
 * of its channels; a batched target gets one message with all subjects. The `limit` makes Postgres look up each row by the whole key: a
 * join may read all rows of the owner for each.
 *
 * @returns the channels with new messages
 */
export const writeDeliveries = sqlStatement({
  text: `
    with target as materialized (
      select given.*, gen_random_uuid() as batch_id
      from unnest(:channelIds::uuid[], :types::text[], :recipients::bytea[], :batched::boolean[]) as given (channel_id, type, recipient, is_batched)
    ), candidate as materialized (
      select t.*, c.id as subject_id, case when t.is_batched then t.batch_id else gen_random_uuid() end as message_id
      from target t cross join unnest(:subjectIds::uuid[]) as c (id)
        left join lateral (
          select d.message_id from notification_delivery d where d.owner_id = :ownerId and d.subject_id = c.id and d.event = :event
            and d.channel_id = t.channel_id and d.recipient = t.recipient and d.occurrence = :occurrence limit 1
        ) written on true
      where written.message_id is null
    ), message as (
      insert into notification_message (id, organization_id, project_id, source, owner_id, channel_id, channel_type, recipient, event, next_at, give_up_at)
      select distinct message_id, :organizationId::uuid, :projectId::uuid, :source, :ownerId::uuid, channel_id, type, recipient, :event, now(),
        now() + make_interval(secs => :giveUpSeconds)
      from candidate
      returning channel_id
    ), delivery as (
      insert into notification_delivery (message_id, subject_id, owner_id, channel_id, recipient, event, occurrence)
      select message_id, subject_id, :ownerId, channel_id, recipient, :event, :occurrence from candidate
    )
    select distinct channel_id as "channelId" from message`,
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

/** Messages of a channel that are due, the longest overdue first. */
export const listDueMessages = sqlStatement({
  text: `
    select id, recipient, event, attempts from notification_message
    where channel_id = :channelId and next_at <= now() order by next_at, id limit :most::integer`,
  params: { channelId: t.uuid, most: t.integer },
  row: { id: t.uuid, recipient: t.bytea, event: t.text, attempts: t.integer },
});

/** Stores the result of an attempt: sent, failed for good, or pending until the pause ends; failed if that is past the deadline. */
export const settleMessage = sqlStatement({
  text: `
    with judged as (
      select id, case
          when :outcome <> 'temporary' then :outcome
          when now() + make_interval(secs => :pauseSeconds) > give_up_at then 'failed'
          else 'pending'
        end as next
      from notification_message where id = :id and state = 'pending' for update
    )
    update notification_message m set state = judged.next, attempts = m.attempts + 1, error_code = :errorCode,
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

/**
 * Makes a statement that cancels the pending messages of a deleted or disabled channel of a source; a channel that was enabled in the
 * meantime keeps its messages.
 *
 * @param enabled a query that finds the channel `m.channel_id` while it is enabled
 */
export const cancelUnless = (enabled: string) =>
  sqlStatement({
    text: `
      update notification_message m set state = 'cancelled', next_at = null, ended_at = now(), error_code = :errorCode
      where channel_id = :channelId and next_at is not null and not exists (${enabled})
      returning id`,
    params: { channelId: t.uuid, errorCode: t.text },
    row: { id: t.uuid },
  });

/** Seconds until the next message of a channel is due, 0 or more; null if none is pending. */
export const secondsToNextMessage = sqlStatement({
  text: `
    select greatest(extract(epoch from next_at - now())::double precision, 0) as seconds
    from notification_message where channel_id = :channelId and next_at is not null order by next_at limit 1`,
  params: { channelId: t.uuid },
  row: { seconds: t.double },
});

/** The target fails for every message: pauses all messages of its channel, and fails those whose deadline is before the end of the pause. */
export const deferMessages = sqlStatement({
  text: `
    update notification_message set
      state = case when now() + make_interval(secs => :pauseSeconds) > give_up_at then 'failed' else 'pending' end,
      next_at = case when now() + make_interval(secs => :pauseSeconds) > give_up_at then null else now() + make_interval(secs => :pauseSeconds) end,
      ended_at = case when now() + make_interval(secs => :pauseSeconds) > give_up_at then now() end,
      attempts = greatest(attempts, :attempts), error_code = :errorCode
    where channel_id = :channelId and next_at <= now() + make_interval(secs => :pauseSeconds)`,
  params: { channelId: t.uuid, attempts: t.integer, pauseSeconds: t.double, errorCode: t.text },
  row: {},
});

/** Resets a failed or cancelled message to pending, as if it were new. No row if it is pending or sent. */
export const retryMessage = sqlStatement({
  text: `
    with held as (select id, state from notification_message where id = :id and state in ('failed', 'cancelled') for update)
    update notification_message m set state = 'pending', attempts = 0, next_at = now(), ended_at = null, error_code = null,
      give_up_at = now() + make_interval(secs => :giveUpSeconds)
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
