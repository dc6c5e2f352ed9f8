// The configuration by which somebody logs in, with what it may do, and its use behind locks of two tables.
import { type RowFrom, sqlStatement, t } from '../../../../kernel/database/statement.js';
import { sqlColumnsOf } from '../../../../kernel/database/tables.js';
import { IdentityKubernetesAuthSchema, IdentityOidcAuthSchema } from '../../identities/public.js';
import { CALLER_COLUMNS, rolesInOrganization } from '../token-check.sql.js';

/** A machine identity with its configuration `a`, at this moment on the clock of the database. @param conditions columns of it */
const findIn = (table: string, conditions: string): string =>
  `select 'identity' as "actorKind", i.id as "actorId", i.name as "actorName", i.is_installation_admin as "isInstallationAdmin",
      o.id as "organizationId", coalesce(o.parent_id, o.id) as "rootOrganizationId", held.roles, held."storedRules", held.attributes,
      ${conditions}, a.ttl_seconds as "accessTokenTTL", a.max_ttl_seconds as "accessTokenMaxTTL", a.num_uses_limit as "accessTokenNumUsesLimit",
      :address::inet <<= any(a.trusted_ips) as "isAddressTrusted", a.updated_at::text as "changedAt",
      (extract(epoch from now()) * 1000)::float8 as now
    from identity i
    join organization o on o.id = i.organization_id
    cross join lateral ${rolesInOrganization('o.id', 'i.id')} held
    join ${table} a on a.identity_id = i.id
    where i.id = :identityId`;
const FIND = { identityId: t.uuid, address: t.nullable(t.inet) } as const;
const CLIENT = {
  actorKind: t.oneOf('identity'),
  ...CALLER_COLUMNS,
  accessTokenTTL: t.integer,
  accessTokenMaxTTL: t.integer,
  accessTokenNumUsesLimit: t.integer,
  isAddressTrusted: t.nullable(t.boolean),
  changedAt: t.text,
  now: t.double,
} as const;

const OIDC = sqlColumnsOf(IdentityOidcAuthSchema, 'a', [
  ...(['discoveryUrl', 'keys', 'caCertificate', 'issuer', 'audiences', 'subject', 'claims', 'sessionClaims'] as const),
  ...(['isSingleUse', 'keysUsableSeconds'] as const),
]);
const KUBERNETES = sqlColumnsOf(IdentityKubernetesAuthSchema, 'a', [
  ...(['host', 'caCertificate', 'reviewerTokenSealed', 'reviewerTokenVersion'] as const),
  ...(['namespaces', 'names', 'audience'] as const),
]);

export const FIND_OIDC_CLIENT = sqlStatement({
  text: findIn('identity_oidc_auth', OIDC.text),
  params: FIND,
  row: { ...CLIENT, ...OIDC.row },
});

export const FIND_KUBERNETES_CLIENT = sqlStatement({
  text: findIn('identity_kubernetes_auth', KUBERNETES.text),
  params: FIND,
  row: { ...CLIENT, ...KUBERNETES.row },
});

export type OidcClientRow = RowFrom<typeof FIND_OIDC_CLIENT>;
export type KubernetesClientRow = RowFrom<typeof FIND_KUBERNETES_CLIENT>;
/** What every such configuration has. */
export type PlatformClientRow = Pick<OidcClientRow, keyof OidcClientRow & keyof KubernetesClientRow>;

/** The configuration is as it was found: it fails where a login may be refused by now. */
export const CONFIGURATION_UNCHANGED = 'configuration_unchanged';

/** Holds a configuration until the transaction ends; the identity first, as its deletion does. It fails where that has changed. */
const holdIn = (table: string) =>
  sqlStatement({
    text: `with held as materialized (select id from identity where id = :identityId for key share),
      same as materialized (select a.identity_id from ${table} a join held on a.identity_id = held.id
        where a.updated_at = :changedAt::text::timestamptz for share of a)
    select require_rule('${CONFIGURATION_UNCHANGED}', exists (select from same)) as held`,
    params: { identityId: t.uuid, changedAt: t.text },
    row: { held: t.boolean },
  });

export const HOLD_OIDC_CONFIGURATION = holdIn('identity_oidc_auth');
export const HOLD_KUBERNETES_CONFIGURATION = holdIn('identity_kubernetes_auth');

/** Marks a token as used, as long as it would be valid. No row: it was. */
export const USE_LOGIN_TOKEN = sqlStatement({
  text: `insert into used_login_token (identity_id, token_hash, expires_at)
    values (:identityId, :tokenHash, to_timestamp(:expiresAt::float8)) on conflict do nothing returning identity_id as "identityId"`,
  params: { identityId: t.uuid, tokenHash: t.bytea, expiresAt: t.double },
  row: { identityId: t.uuid },
});
