import { sqlStatement, t } from '../../../kernel/database/statement.js';
import { IS_EXPIRED } from './token-check.sql.js';

// Families of tokens by recursion, and uses of many tokens, which are locked in an order.

/** Tokens and their descendants. Descendants of an expired token have expired with it. */
const FAMILY = `with recursive family as (
      select id from access_token where id = any(:ids)
      union
      select t.id from access_token t join family on t.maker_id = family.id where not t.is_revoked and not ${IS_EXPIRED}
    )`;

/** What `REVOKE_FAMILIES` would revoke. */
export const FIND_FAMILIES = sqlStatement({
  text: `${FAMILY} select t.id from access_token t where t.id in (select id from family) and not t.is_revoked`,
  params: { ids: t.array(t.uuid) },
  row: { id: t.uuid },
});

/** A token and its ancestors. */
export const FIND_MAKERS = sqlStatement({
  text: `with recursive line as (
      select id, maker_id from access_token where id = :id
      union
      select t.id, t.maker_id from access_token t join line on t.id = line.maker_id
    )
    select id from line`,
  params: { id: t.nullable(t.uuid) },
  row: { id: t.uuid },
});

/** Revokes them. */
export const REVOKE_FAMILIES = sqlStatement({
  // Locked in the order of IDs, as everywhere.
  text: `${FAMILY}, held as materialized (
      select t.id from access_token t where t.id in (select id from family) and not t.is_revoked
      order by t.id for no key update
    )
    update access_token t set is_revoked = true, updated_at = now() from held where t.id = held.id returning t.id`,
  params: { ids: t.array(t.uuid) },
  row: { id: t.uuid },
});

/** Adds the uses of many tokens, by the hexadecimal hashes of the tokens. */
export const STORE_USES = sqlStatement({
  // Locked in the order of IDs, so that two nodes cannot deadlock.
  text: `update access_token t set num_uses = t.num_uses + held.uses
    from (select known.id, given.uses from unnest(:hashes::text[], :uses::int[]) as given (hash, uses)
          join access_token known on known.token_hash = decode(given.hash, 'hex')
          order by known.id for no key update of known) held
    where t.id = held.id`,
  params: { hashes: t.array(t.text), uses: t.array(t.integer) },
  row: {},
});

// The end of tokens: a deletion among rows that it looks at, with what it has seen, in one statement.

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

/** Forgets used tokens that have expired. */
export const deleteExpiredLoginTokens = sqlStatement({
  text: `delete from used_login_token where (identity_id, token_hash) in (
      select identity_id, token_hash from used_login_token where expires_at < now() order by expires_at limit :most::bigint)
    returning identity_id as "identityId"`,
  params: { most: t.bigint },
  row: { identityId: t.uuid },
});
