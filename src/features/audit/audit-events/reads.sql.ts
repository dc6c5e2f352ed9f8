// A lateral page for each of many secrets, over two ways in which a record names them.
import { sqlStatement, t } from '../../../kernel/database/statement.js';
import { EVENT_COLUMNS, EVENT_ROW } from './event.sql.js';

/**
 * Events whose responses had the value of a secret, newest first: a page for each of many secrets, by their places from 1. They are found by the ID of the secret
 * and by the lists that it is in.
 */
export const listReads = sqlStatement({
  text: `
    select wanted.place::integer as place, ${EVENT_COLUMNS}
    from unnest(:ids::uuid[], :befores::bigint[]) with ordinality as wanted (id, before, place) cross join lateral (
      select found.* from (
        select decode(replace(wanted.id::text, '-', ''), 'hex') as name
        union all select d.digest from audit_disclosure d where d.ids @> array[wanted.id]
      ) names cross join lateral (
        select own.* from audit_record own
        where own.disclosed = names.name and coalesce(own.organization_id = :organizationId, false)
          and own.sequence < coalesce(wanted.before, 9223372036854775807)
        order by own.sequence desc limit :limit
      ) found
      order by found.sequence desc limit :limit
    ) r
    order by wanted.place, r.sequence desc`,
  params: {
    ids: t.array(t.uuid),
    befores: t.array(t.nullable(t.bigint)),
    organizationId: t.uuid,
    limit: t.bigint,
  },
  row: { place: t.integer, ...EVENT_ROW },
});
