// A deletion among rows that it looks at, with what it has seen, in one statement.
import { sqlStatement, t } from '../../../../kernel/database/statement.js';

/**
 * Looks at tokens by rising ID and deletes those that ended longer ago than so many days. A token stays for as long as tokens that were
 * created with it: they are revoked with it.
 */
export const deleteEnded = sqlStatement({
  text: `
    with seen as materialized (
      select id, (is_revoked and updated_at < now() - make_interval(days => :days))
        or coalesce(expires_at < now() - make_interval(days => :days), false) as "hasEnded"
      from access_token where id > :after order by id limit :most
    ), gone as (
      delete from access_token where id in (select id from seen where "hasEnded")
        and not exists (select from access_token made where made.maker_id = access_token.id)
      returning organization_id
    )
    select (select id from seen order by id desc limit 1) as "last", (select count(*)::integer from seen) as "seenCount",
      (select coalesce(array_agg(organization_id::text), '{}') from gone) as "organizationIds"`,
  params: { days: t.integer, after: t.uuid, most: t.bigint },
  row: { last: t.nullable(t.uuid), seenCount: t.integer, organizationIds: t.array(t.text) },
});
