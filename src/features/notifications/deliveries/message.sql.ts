import { sqlStatement, t } from '../../../kernel/database/statement.js';

// What has reached nobody: a walk of an index from owner to owner, and figures of many owners by lateral joins.

/** Whether a message `m` has something left to notify of. */
export const HAS_CONTENT = `(m.error_code is null or m.error_code not in ('CERTIFICATES_REMOVED', 'CREDENTIALS_REMOVED', 'NOTICES_REMOVED'))`;

/**
 * Messages `m` of an owner about something that nobody was notified of: by now rejected, or attempted for an hour. Those that no
 * check has found again for two days concern nobody any more.
 */
const undelivered = (ownerId: string): string => `
      select m.id, m.source, m.organization_id, m.project_id, m.error_code, m.created_at from notification_message m
      where m.owner_id = ${ownerId} and m.state <> 'sent' and (m.state = 'failed' or m.created_at < now() - interval '1 hour')
        and (m.state = 'pending' or m.found_at > now() - interval '2 days')
        and ${HAS_CONTENT}
        and exists (select from notification_delivery d where d.message_id = m.id and not exists (
          select from notification_delivery o
          where o.owner_id = d.owner_id and o.subject_id = d.subject_id and o.event = d.event and o.occurrence = d.occurrence
            and (select s.state from notification_message s where s.id = o.message_id) = 'sent'))
      order by m.created_at limit 1000`;

/** Since when an owner has had messages about something that nobody was notified of, how many, and the code of the newest. */
export const undeliveredOfOwner = (ownerId: string): string => `
      select min(u.created_at) as since, count(*)::integer as count,
        (array_agg(u.error_code order by u.created_at desc) filter (where u.error_code is not null))[1] as error_code
      from (${undelivered(ownerId)}) u`;

/** What nobody was notified of, by owner. Owners without such messages have no row. */
export const findUndelivered = sqlStatement({
  text: `
    select w.id as "ownerId", found.since, found.count, found.error_code as "errorCode"
    from unnest(:ownerIds::uuid[]) as w (id) cross join lateral (${undeliveredOfOwner('w.id')}) found where found.count > 0`,
  params: { ownerIds: t.array(t.uuid) },
  row: { ownerId: t.uuid, since: t.time, count: t.integer, errorCode: t.nullable(t.text) },
});

/** Messages that reached nobody. */
export type Undelivered = Awaited<ReturnType<typeof findUndelivered>>[number];

/**
 * The table `owner` of owners with messages that were not sent, by ID, one at a time by index however many messages there are. Its last
 * row is null.
 *
 * @param after an expression: only owners with greater IDs
 */
export const unsentOwners = (after: string): string => `
    with recursive owner as (
      (select owner_id as id from notification_message where state <> 'sent' and owner_id > ${after} order by owner_id limit 1)
      union all
      select (select m.owner_id from notification_message m where m.state <> 'sent' and m.owner_id > owner.id order by m.owner_id limit 1)
      from owner where owner.id is not null
    )`;

/** Owners with messages that were not sent, by ID. */
export const listUnsentOwnerIds = sqlStatement({
  text: `${unsentOwners(':after')}
    select id from owner where id is not null limit :most::integer`,
  params: { after: t.uuid, most: t.integer },
  row: { id: t.uuid },
});

// Writes: of many messages with their deliveries, and of all that wait at a channel or are retried, in one statement each.

/** A message that is sent as if it were new. */
const PENDING_AGAIN = `state = 'pending', attempts = 0, next_at = now(), ended_at = null, error_code = null, found_at = now(),
        give_up_at = now() + make_interval(secs => :giveUpSeconds)`;

/**
 * Writes deliveries and messages of an owner about these subjects, except those that exist. Of those, failed and cancelled ones are
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
    with locked as (select id, state from notification_message where id = :id and state in ('failed', 'cancelled') for update)
    update notification_message m set ${PENDING_AGAIN}
    from locked where m.id = locked.id
    returning m.organization_id as "organizationId", m.project_id as "projectId", m.owner_id as "ownerId",
      m.channel_id as "channelId", locked.state as "stateBefore"`,
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
