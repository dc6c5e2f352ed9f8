// The hot check of a token: one statement that counts a use, with what its holder has, by laterals and a change inside.
import { sqlStatement, t } from '../../../kernel/database/statement.js';
import {
  attributesOf,
  hasTimedRoles,
  ORGANIZATION_ROLES,
  RIGHTS_CACHE_SECONDS,
  sessionAttributesOf,
  storedRulesOf,
} from '../permissions/public.js';

const HOLDER = `t.id as "tokenId", case when t.user_id is null then 'identity' else 'user' end as "actorKind",
  coalesce(i.id, u.id) as "actorId", coalesce(i.name, u.username) as "actorName",
  coalesce(i.is_installation_admin, false) as "isInstallationAdmin",
  o.id as "organizationId", coalesce(o.parent_id, o.id) as "rootOrganizationId", held.roles, held."storedRules", held.attributes,
  ${sessionAttributesOf('t')} as "sessionAttributes"`;

const BUILT_IN = `array[${ORGANIZATION_ROLES.map((slug) => `'${slug}'`).join(', ')}]`;

/**
 * The roles that a member has in an organization, as one row: of its own membership, then of its groups, oldest first.
 * One that is assigned twice counts at its last position. No roles: it is not a member now.
 *
 * @param organization @param member SQL of their IDs
 * @param withRules whether to return the text of their rules too
 * @param origins further columns of it: where the roles come from
 */
export const rolesInOrganization = (
  organization: string,
  member: string,
  { withRules = true, origins = { roles: '', rules: '' } } = {},
): string => `(
  select now_held.*, stored.*,
    case when stored."storedRules" is not null then ${attributesOf(member)} end as attributes
  from (select array_agg(n.role order by n.group_id is not null, n.created_at, n.id) as roles, min(n.ends_at) as until${origins.roles}
        from organization_member_now n where n.organization_id = ${organization} and n.member_id = ${member}) now_held
  cross join lateral (
    select case when not now_held.roles <@ ${BUILT_IN} then
      (select jsonb_agg(${storedRulesOf('r', String(withRules))} order by place.at)
       from ${ownRoles(organization)}) end as "storedRules"${origins.rules} offset 0) stored)`;

/** The custom roles `r` of an organization that a member has, with their positions. */
const ownRoles = (organization: string): string =>
  `(select listed.slug, max(listed.at) as at from unnest(now_held.roles) with ordinality as listed(slug, at) group by listed.slug) place
       join organization_role r on r.organization_id = ${organization} and r.slug = place.slug`;

/**
 * What members have in an organization now, and where it comes from, as the check of a token finds it. An identity that
 * a project owns is visible in its project only: no other query finds it.
 */
export const FIND_RIGHTS = sqlStatement({
  text: `select asked.id as "memberId", held.roles, held."storedRules", held.attributes, held.memberships, held."ownRoles"
    from unnest(:memberIds::uuid[]) asked(id)
    cross join lateral ${rolesInOrganization(':organizationId::uuid', 'asked.id', {
      origins: {
        roles: `,
         jsonb_agg(jsonb_build_object('role', n.role, 'membershipId', n.id, 'groupId', n.group_id)
           order by n.group_id is not null, n.created_at, n.id) as memberships`,
        rules: `,
       (select coalesce(jsonb_agg(jsonb_build_object('id', r.id, 'slug', r.slug) order by place.at), '[]')
        from ${ownRoles(':organizationId::uuid')}) as "ownRoles"`,
      },
    })} held
    where held.roles is not null
      and (asked.id = :actorId or not exists (select from identity i where i.id = asked.id and i.project_id is not null))`,
  params: { organizationId: t.uuid, memberIds: t.array(t.uuid), actorId: t.uuid },
  row: {
    memberId: t.uuid,
    roles: t.array(t.text),
    storedRules: t.nullable(t.json),
    attributes: t.nullable(t.text),
    memberships: t.json,
    ownRoles: t.json,
  },
});

/** The caller, in the columns of statements about credentials. */
export const CALLER_COLUMNS = {
  actorId: t.uuid,
  actorName: t.text,
  isInstallationAdmin: t.boolean,
  organizationId: t.uuid,
  rootOrganizationId: t.uuid,
  roles: t.nullable(t.array(t.text)),
  storedRules: t.nullable(t.json),
  attributes: t.nullable(t.text),
} as const;

const HOLDER_ROW = {
  ...CALLER_COLUMNS,
  tokenId: t.uuid,
  actorKind: t.oneOf('identity', 'user'),
  sessionAttributes: t.nullable(t.text),
} as const;

const from = (withRules: boolean) => `from access_token t
  join organization o on o.id = t.organization_id
  left join identity i on i.id = t.identity_id
  left join app_user u on u.id = t.user_id
  cross join lateral ${rolesInOrganization('t.organization_id', 'coalesce(t.identity_id, t.user_id)', { withRules })} held
  left join identity_token_auth ta on t.auth_method = 'token-auth' and ta.identity_id = t.identity_id
  left join identity_universal_auth ua on t.auth_method = 'universal-auth' and ua.identity_id = t.identity_id
  left join identity_oidc_auth oa on t.auth_method = 'oidc-auth' and oa.identity_id = t.identity_id
  left join identity_kubernetes_auth ka on t.auth_method = 'kubernetes-auth' and ka.identity_id = t.identity_id
  where t.token_hash = :hash`;

/** When a token ends at the latest: at its expiry, or at its maximum age, whichever comes first; null for never. */
export const ENDS_AT = `least(t.expires_at,
  case when t.max_ttl_seconds > 0 then t.created_at + make_interval(secs => t.max_ttl_seconds) end)`;
/** True once a token has ended. */
export const IS_EXPIRED = `coalesce(${ENDS_AT} <= now(), false)`;
/** By the trusted networks of the auth method that the token was created with. */
const IS_ADDRESS_TRUSTED = `(t.auth_method = 'personal'
  or coalesce(:address::inet <<= any(coalesce(ta.trusted_ips, ua.trusted_ips, oa.trusted_ips, ka.trusted_ips)), false))`;

const IS_TIMED = `(held.until is not null or ${hasTimedRoles('coalesce(t.identity_id, t.user_id)')})`;

/**
 * The check of a token; `uses` are added if it has no use limit. A row: it is valid. Rules are returned as digests.
 *
 * A token with a use limit passes only through the UPDATE. A request that waits for another there checks its conditions
 * again on the new row, so that a limit of N gives exactly N uses. Expiry is not among them: it never moves earlier. A
 * token without a limit is written at most every half minute: with the time that a check is known, that makes the minute that is
 * promised. `until` is when it ends, or its holder's roles do, or that has to be looked up again; null for one with a limit. The first
 * use of a token without a TTL removes the end that it has while unused.
 */
export const CHECK_TOKEN = sqlStatement({
  text: `with holder as (
      select ${HOLDER}, t.num_uses_limit, ${IS_TIMED} as "isTimed",
        least(${ENDS_AT}, held.until, now() + interval '${RIGHTS_CACHE_SECONDS} seconds') as until ${from(false)}
        and not t.is_revoked and not ${IS_EXPIRED} and ${IS_ADDRESS_TRUSTED} and held.roles is not null
    ), counted as (
      update access_token t set num_uses = t.num_uses + case when t.num_uses_limit > 0 then 1 else :uses::int end, last_used_at = now(),
        expires_at = case when t.ttl_seconds > 0 then t.expires_at end
      from holder where t.id = holder."tokenId" and not t.is_revoked
        and case when t.num_uses_limit > 0 then t.num_uses < t.num_uses_limit
                 else t.last_used_at is null or t.last_used_at < now() - interval '${RIGHTS_CACHE_SECONDS} seconds' end
      returning t.id
    )
    select "tokenId", "actorKind", "actorId", "actorName", "isInstallationAdmin", "organizationId", "rootOrganizationId",
      roles, "storedRules", attributes, "sessionAttributes",
      num_uses_limit > 0 as "isLimited", case when num_uses_limit = 0 then extract(epoch from until)::float8 end as until, "isTimed",
      exists (select from counted) as "isCounted"
    from holder where num_uses_limit = 0 or exists (select from counted)`,
  params: { hash: t.bytea, address: t.nullable(t.inet), uses: t.integer },
  row: { ...HOLDER_ROW, isLimited: t.boolean, until: t.nullable(t.double), isTimed: t.boolean, isCounted: t.boolean },
});

/** A token and the rules of its holder, without counting a use, and why it is rejected. */
export const FIND_TOKEN = sqlStatement({
  text: `select ${HOLDER}, t.is_revoked as "isRevoked", ${IS_EXPIRED} as "isExpired",
    t.num_uses_limit > 0 and t.num_uses >= t.num_uses_limit as "isSpent", ${IS_ADDRESS_TRUSTED} as "isAddressTrusted" ${from(true)}`,
  params: { hash: t.bytea, address: t.nullable(t.inet) },
  row: { ...HOLDER_ROW, isRevoked: t.boolean, isExpired: t.boolean, isSpent: t.boolean, isAddressTrusted: t.boolean },
});
