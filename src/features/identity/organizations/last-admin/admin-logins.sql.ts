// Credentials and identities are of slices that stand on this one; each condition is made for two memberships, in lateral form.
import { sqlStatement, t } from '../../../../kernel/database/statement.js';

/** An admin by itself and without an end. Groups change and terms end: neither keeps an organization its admin. */
const isLasting = (membership: string): string =>
  `(${membership}.role = 'admin' and ${membership}.group_id is null and ${membership}.ends_at is null)`;

/** Further conditions on a token `t` and on a client secret `c`. */
interface Further {
  readonly token: string;
  readonly clientSecret: string;
}
const NONE: Further = { token: 'true', clientSecret: 'true' };

/**
 * Whether somebody has a credential that is valid now: a token for the organization or for the root above it, or a client
 * secret. As the view `project_lasting_admin` has it; a client secret is deleted with the method.
 */
const canLogIn = (
  { userId, identityId, organizationId }: Record<'userId' | 'identityId' | 'organizationId', string>,
  further: Further = NONE,
): string => {
  const hasToken = (owner: string): string => `exists (
    select from access_token t where ${owner} and not t.is_revoked
      and (t.num_uses_limit = 0 or t.num_uses < t.num_uses_limit) and (t.expires_at is null or now() < t.expires_at)
      and (t.max_ttl_seconds = 0 or now() < t.created_at + make_interval(secs => t.max_ttl_seconds))
      and exists (select from organization g where g.id = ${organizationId} and t.organization_id in (g.id, g.parent_id))
      and ${further.token} offset 0)`;
  // Two conditions for the owner, and not one: each has its index. With `offset 0` Postgres never reads the credentials of all.
  return `(${hasToken(`t.identity_id = ${identityId}`)} or ${hasToken(`t.user_id = ${userId}`)} or exists (
    select from universal_auth_client_secret c where c.identity_id = ${identityId} and not c.is_revoked
      and (c.num_uses_limit = 0 or c.num_uses < c.num_uses_limit) and (c.expires_at is null or now() < c.expires_at)
      and ${further.clientSecret} offset 0))`;
};

const canMemberLogIn = (membership: string, further?: Further): string =>
  canLogIn(
    {
      userId: `${membership}.user_id`,
      identityId: `${membership}.identity_id`,
      organizationId: `${membership}.organization_id`,
    },
    further,
  );

/**
 * Whether no group forbids an admin anything in the organization: nobody gives a right that is forbidden to himself, so that such an
 * admin makes no other one, and frees nobody. What cannot be read forbids everything, as `readStoredRules` has it.
 */
const isFree = (membership: string): string => {
  const isForbidden = (column: 'user_id' | 'identity_id'): string => `exists (
    select from group_member g join organization_membership h
      on h.group_id = g.group_id and h.organization_id = ${membership}.organization_id
    join organization_role r on r.organization_id = h.organization_id and r.slug = h.role
    where g.${column} = ${membership}.${column}
      and (jsonb_typeof(r.permissions) <> 'array' or r.permissions @> '[{"inverted": true}]'))`;
  return `not (${isForbidden('user_id')} or ${isForbidden('identity_id')})`;
};

/** Without some tokens, and of one identity only what its networks let in from an address. */
const AS_ASKED: Further = {
  token: `t.id <> all(:exceptTokenIds) and (:callerId::uuid is null or t.identity_id is distinct from :callerId
    or :address::inet <<= any(
      select unnest(a.trusted_ips) from identity_token_auth a where a.identity_id = t.identity_id and t.auth_method = 'token-auth'
      union all
      select unnest(a.trusted_ips) from identity_universal_auth a
      where a.identity_id = t.identity_id and t.auth_method = 'universal-auth'
      union all
      select unnest(a.trusted_ips) from identity_oidc_auth a where a.identity_id = t.identity_id and t.auth_method = 'oidc-auth'
      union all
      select unnest(a.trusted_ips) from identity_kubernetes_auth a
      where a.identity_id = t.identity_id and t.auth_method = 'kubernetes-auth'))`,
  clientSecret: `(:callerId::uuid is null or c.identity_id <> :callerId or exists (
      select from identity_universal_auth a where a.identity_id = c.identity_id
        and :address::inet <<= any(a.client_secret_trusted_ips) and :address::inet <<= any(a.trusted_ips)))`,
};

/**
 * The organizations, of some, that have a lasting admin who can log in, again where no group forbids that admin anything, and the
 * admin of the installation, if it is one of the holders and can.
 */
export const findLoggedIn = sqlStatement({
  text: `select o.id, free.wanted as "isFree" from organization o, (values (false), (true)) free(wanted)
    where o.id = any(:organizationIds) and exists (
      select from organization_membership m
      where m.organization_id = o.id and ${isLasting('m')} and ${canMemberLogIn('m', AS_ASKED)}
        and (not free.wanted or ${isFree('m')}) offset 0)
    union all
    select i.id, false from identity i where i.id = any(:holderIds) and i.is_installation_admin
      and ${canLogIn({ userId: 'null', identityId: 'i.id', organizationId: 'i.organization_id' }, AS_ASKED)}`,
  params: {
    organizationIds: t.array(t.uuid),
    holderIds: t.array(t.uuid),
    exceptTokenIds: t.array(t.uuid),
    callerId: t.nullable(t.uuid),
    address: t.nullable(t.inet),
  },
  row: { id: t.uuid, isFree: t.boolean },
});

/**
 * The organizations, or the one, of which somebody is the last lasting admin. Who stays counts only if it can log in and no group
 * forbids it anything, unless the same is so of the member.
 */
export const findOnlyAdmin = sqlStatement({
  text: `select m.organization_id as id from organization_membership m
    where coalesce(m.user_id, m.identity_id) = :memberId and ${isLasting('m')}
      and (:organizationId::uuid is null or m.organization_id = :organizationId)
      and not exists (select 1 from organization_membership o
                      where o.organization_id = m.organization_id and ${isLasting('o')} and o.id <> m.id
                        and (${canMemberLogIn('o')} or not ${canMemberLogIn('m')})
                        and (${isFree('o')} or not ${isFree('m')}))
    limit 1`,
  params: { memberId: t.uuid, organizationId: t.nullable(t.uuid) },
  row: { id: t.uuid },
});
