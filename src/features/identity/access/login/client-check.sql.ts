// The hot check of a client secret, and its count behind a lock of another table.
import { sqlStatement, t } from '../../../../kernel/database/statement.js';
import { CALLER_COLUMNS, rolesInOrganization } from '../token-check.sql.js';

const IS_EXPIRED = 'coalesce(c.expires_at <= now(), false)';
const IS_SPENT = 'c.num_uses_limit > 0 and c.num_uses >= c.num_uses_limit';
/** What tokens of logins get. */
const LIMITS = { accessTokenTTL: t.integer, accessTokenMaxTTL: t.integer, accessTokenNumUsesLimit: t.integer } as const;
const IS_ADDRESS_TRUSTED = 'coalesce(:address::inet <<= any(a.client_secret_trusted_ips), false)';

/** A client, without counting a use of its secret. `clientSecretId` is null for a client ID that has no such secret. */
export const FIND_CLIENT = sqlStatement({
  // Without a secret all of its columns are null.
  text: `select c.id as "clientSecretId", 'identity' as "actorKind", i.id as "actorId", i.name as "actorName",
      i.is_installation_admin as "isInstallationAdmin", o.id as "organizationId",
      coalesce(o.parent_id, o.id) as "rootOrganizationId", held.roles, held."storedRules", held.attributes, coalesce(c.is_revoked, false) as "isRevoked",
      ${IS_EXPIRED} as "isExpired", coalesce(${IS_SPENT}, false) as "isSpent", ${IS_ADDRESS_TRUSTED} as "isAddressTrusted",
      a.ttl_seconds as "accessTokenTTL", a.max_ttl_seconds as "accessTokenMaxTTL", a.num_uses_limit as "accessTokenNumUsesLimit"
    from identity_universal_auth a
    join identity i on i.id = a.identity_id
    join organization o on o.id = i.organization_id
    cross join lateral ${rolesInOrganization('o.id', 'i.id')} held
    left join universal_auth_client_secret c on c.identity_id = a.identity_id and c.secret_hash = :secretHash
    where a.client_id = :clientId`,
  params: { clientId: t.uuid, secretHash: t.bytea, address: t.nullable(t.inet) },
  row: {
    clientSecretId: t.nullable(t.uuid),
    actorKind: t.oneOf('identity'),
    ...CALLER_COLUMNS,
    isRevoked: t.boolean,
    isExpired: t.boolean,
    isSpent: t.boolean,
    isAddressTrusted: t.boolean,
    ...LIMITS,
  },
});

/** The client is as it was found: it fails where logins may not be counted, or tokens would get other limits. */
export const CLIENT_UNCHANGED = 'client_unchanged';

/**
 * Counts logins that came at the same time: all of them, or it fails.
 *
 * A login that waits for another here checks its conditions again on the new row, so that a limit of N gives exactly N
 * logins. The identity is locked first, as its deletion does: otherwise the two could deadlock.
 */
export const COUNT_LOGINS = sqlStatement({
  text: `with held as materialized (select id from identity where id = :identityId for key share), counted as (
    update universal_auth_client_secret c set num_uses = c.num_uses + :logins::int, last_used_at = now()
    from held join identity_universal_auth a on a.identity_id = held.id
    where c.id = :clientSecretId and c.identity_id = held.id and not c.is_revoked and not ${IS_EXPIRED}
      and (c.num_uses_limit = 0 or c.num_uses + :logins::int <= c.num_uses_limit)
      and ${IS_ADDRESS_TRUSTED} and (a.ttl_seconds, a.max_ttl_seconds, a.num_uses_limit)
        = (:accessTokenTTL::int, :accessTokenMaxTTL::int, :accessTokenNumUsesLimit::int)
    returning 1)
  select require_rule('${CLIENT_UNCHANGED}', exists (select from counted)) as counted`,
  params: { identityId: t.uuid, clientSecretId: t.uuid, address: t.nullable(t.inet), logins: t.integer, ...LIMITS },
  row: { counted: t.boolean },
});
