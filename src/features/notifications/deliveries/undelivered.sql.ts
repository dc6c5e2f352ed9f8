// A walk of an index from owner to owner, and figures of many owners by lateral joins.
import { sqlStatement, t } from '../../../kernel/database/statement.js';

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
