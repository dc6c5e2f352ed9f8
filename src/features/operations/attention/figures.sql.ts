// A union of the rows of all kinds, and figures for each of a fixed list.
import { sqlStatement, t } from '../../../kernel/database/statement.js';
import { HAS_CONTENT } from '../../notifications/deliveries/public.js';
import { CHANNEL_TYPES } from '../../notifications/sending/public.js';
import { ROTATION_STATUSES } from '../../rotations/secret-rotations/public.js';
import type { Source } from './kinds/kind.sql.js';
import { KIND_NAMES, KINDS } from './kinds/kinds.js';

const measured = KIND_NAMES.map((kind) => {
  const rows = KINDS[kind].sources.map((source: Source) => source.rows).join(' union all ');
  return `select '${kind}' as kind, count(*)::integer as count, coalesce(extract(epoch from now() - min(x.since)), 0)::double precision as seconds
    from (${rows}) x`;
});

/** How many items of each kind there are in the installation, and since when the oldest has been there. */
export const measureAttention = sqlStatement({
  text: measured.join(' union all '),
  params: {},
  row: { kind: t.oneOf(...KIND_NAMES), count: t.integer, seconds: t.double },
});

/** Rotations by status. */
export const measureRotations = sqlStatement({
  text: `
    select given.status, (select count(*)::integer from secret_rotation r where r.status = given.status) as count
    from unnest(array['${ROTATION_STATUSES.join("', '")}']) as given (status)`,
  params: {},
  row: { status: t.text, count: t.integer },
});

/** Age of the oldest attempt that has not ended. */
export const measureAttempts = sqlStatement({
  text: `
    select coalesce(extract(epoch from now() - min(created_at)), 0)::double precision as seconds
    from secret_rotation_attempt where ended_at is null`,
  params: {},
  row: { seconds: t.double },
});

/** Credentials to revoke, before the first attempt and after one has failed. */
export const measurePendingRevocations = sqlStatement({
  text: `
    select case when given.is_tried then 'failed' else 'pending' end as state, found.count, found.seconds
    from (values (false), (true)) as given (is_tried) cross join lateral (
      select count(*)::integer as count, coalesce(extract(epoch from now() - min(d.created_at)), 0)::double precision as seconds
      from credential_debt d where (d.tries > 0) = given.is_tried) found`,
  params: {},
  row: { state: t.text, count: t.integer, seconds: t.double },
});

/** Messages that wait, and those of the last month that were not sent. */
export const measureMessages = sqlStatement({
  text: `
    select type."channelType", state.state, coalesce(found.count, 0) as count, coalesce(found.seconds, 0)::double precision as seconds
    from unnest(array['${CHANNEL_TYPES.join("', '")}']) as type ("channelType")
      cross join unnest(array['pending', 'failed', 'cancelled']) as state (state)
      left join (
        select m.channel_type, m.state, count(*)::integer as count, extract(epoch from now() - min(m.created_at)) as seconds
        from notification_message m where m.state <> 'sent' and ${HAS_CONTENT} and (m.state = 'pending' or m.ended_at > now() - interval '30 days')
        group by m.channel_type, m.state
      ) found on found.channel_type = type."channelType" and found.state = state.state`,
  params: {},
  row: { channelType: t.text, state: t.text, count: t.integer, seconds: t.double },
});
