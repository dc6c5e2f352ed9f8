// Families of tokens by recursion, and changes that depend on when a token ends, for which the check has the one text.
import { sqlStatement, t } from '../../kernel/database/statement.js';
import { ENDS_AT, IS_EXPIRED } from './token-check.sql.js';

/** What is left of a token, which is locked until the commit. Null means no limit. */
export const HOLD_REMAINING = sqlStatement({
  // Whole seconds, so that a token never ends after the one that created it.
  text: `select t.is_revoked as "isRevoked",
      floor(extract(epoch from ${ENDS_AT} - now()::timestamptz(3)))::float8 as seconds,
      case when t.num_uses_limit > 0 then (t.num_uses_limit - t.num_uses)::float8 end as uses
    from access_token t where t.id = :id for no key update`,
  params: { id: t.nullable(t.uuid) },
  row: { isRevoked: t.boolean, seconds: t.nullable(t.double), uses: t.nullable(t.double) },
});

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

/** The valid tokens of logins with a client secret. */
export const TOKENS_OF_CLIENT_SECRET = sqlStatement({
  text: `select t.id from access_token t where t.client_secret_id = :clientSecretId and not t.is_revoked and not ${IS_EXPIRED}`,
  params: { clientSecretId: t.uuid },
  row: { id: t.uuid },
});

/** Extends a token by another TTL from now. No row: it is invalid, or would exceed its maximum lifetime. */
export const RENEW_TOKEN = sqlStatement({
  text: `update access_token t set
      expires_at = case when t.ttl_seconds > 0 then now() + make_interval(secs => t.ttl_seconds) end,
      last_renewed_at = now(), updated_at = now()
    where t.id = :id and not t.is_revoked and not ${IS_EXPIRED}
      and (t.num_uses_limit = 0 or t.num_uses < t.num_uses_limit)
      and (t.max_ttl_seconds = 0
           or now() + make_interval(secs => t.ttl_seconds) <= t.created_at + make_interval(secs => t.max_ttl_seconds))
    returning t.ttl_seconds as "expiresIn", t.max_ttl_seconds as "accessTokenMaxTTL"`,
  params: { id: t.uuid },
  row: { expiresIn: t.integer, accessTokenMaxTTL: t.integer },
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
