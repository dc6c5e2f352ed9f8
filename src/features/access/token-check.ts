import { organizationAbility } from '../../kernel/authz/roles.js';
import type { Context, Kernel, RequestInfo } from '../../kernel/context.js';
import type { Query } from '../../kernel/database/database.js';
import { AppError, type ErrorCode } from '../../kernel/errors.js';

/** Who acts, and in which organization. */
export interface Holder {
  readonly actorKind: 'identity' | 'user';
  readonly actorId: string;
  readonly actorName: string;
  readonly isInstallationAdmin: boolean;
  readonly organizationId: string;
  readonly rootOrganizationId: string;
  /** In the organization of the scope; null: no member of it. */
  readonly role: string | null;
}

/** Whose token it is, and what it is scoped to. */
export interface TokenHolder extends Holder {
  readonly tokenId: string;
}

/** A holder, and why the token does not pass right now. */
export interface KnownToken extends TokenHolder {
  readonly isRevoked: boolean;
  readonly isExpired: boolean;
  readonly isSpent: boolean;
  readonly isAddressTrusted: boolean;
}

const HOLDER = `t.id as "tokenId", case when t.user_id is null then 'identity' else 'user' end as "actorKind",
  coalesce(i.id, u.id) as "actorId", coalesce(i.name, u.username) as "actorName",
  coalesce(i.is_installation_admin, false) as "isInstallationAdmin",
  o.id as "organizationId", coalesce(o.parent_id, o.id) as "rootOrganizationId", coalesce(im.role, um.role) as role`;

const FROM = `from access_token t
  join organization o on o.id = t.organization_id
  left join identity i on i.id = t.identity_id
  left join app_user u on u.id = t.user_id
  left join organization_membership im on im.organization_id = t.organization_id and im.identity_id = t.identity_id
  left join organization_membership um on um.organization_id = t.organization_id and um.user_id = t.user_id
  left join identity_token_auth ta on t.auth_method = 'token-auth' and ta.identity_id = t.identity_id
  left join identity_universal_auth ua on t.auth_method = 'universal-auth' and ua.identity_id = t.identity_id
  where t.token_hash = $1`;

/** When a token ends at the latest: by its expiry, or by its maximum age, whichever comes first; null for never. */
export const ENDS_AT = `least(t.expires_at,
  case when t.max_ttl_seconds > 0 then t.created_at + make_interval(secs => t.max_ttl_seconds) end)`;
/** True once a token has ended. */
export const IS_EXPIRED = `coalesce(${ENDS_AT} <= now(), false)`;
/** By the networks of the method that the token was made by. */
const IS_ADDRESS_TRUSTED = `(t.auth_method = 'personal'
  or coalesce($2::inet <<= any(coalesce(ta.trusted_ips, ua.trusted_ips)), false))`;

/**
 * The check of a token: $1 its hash, $2 the caller's address, $3 the uses to add. A row: it passes.
 *
 * A limited token passes only through the UPDATE. One that waits for another there looks at its conditions again on the
 * new row, so that a limit of N gives exactly N passes. Expiry is not among them: it never comes nearer. An unlimited one is
 * written at most once a minute.
 * Source: reliability P3.
 */
const CHECK = `with holder as (
    select ${HOLDER}, t.num_uses_limit ${FROM}
      and not t.is_revoked and not ${IS_EXPIRED} and ${IS_ADDRESS_TRUSTED} and coalesce(im.role, um.role) is not null
  ), counted as (
    update access_token t set num_uses = t.num_uses + $3, last_used_at = now()
    from holder where t.id = holder."tokenId" and not t.is_revoked
      and case when t.num_uses_limit > 0 then t.num_uses < t.num_uses_limit
               else t.last_used_at is null or t.last_used_at < now() - interval '1 minute' end
    returning t.id
  )
  select holder.*, exists (select from counted) as "isCounted" from holder
  where num_uses_limit = 0 or exists (select from counted)`;

const KNOW = `select ${HOLDER}, t.is_revoked as "isRevoked", ${IS_EXPIRED} as "isExpired",
  t.num_uses_limit > 0 and t.num_uses >= t.num_uses_limit as "isSpent", ${IS_ADDRESS_TRUSTED} as "isAddressTrusted" ${FROM}`;

/**
 * Checks a token and counts its use in one statement, on the clock of the database.
 *
 * @param uses what to add to the count; 1 unless uses of an unlimited token were held back
 * @returns null when it does not pass; `findToken` tells why
 */
export async function passToken(
  query: Query,
  hash: Buffer,
  address: string | null,
  uses: number,
): Promise<(TokenHolder & { readonly isCounted: boolean }) | null> {
  const [row] = await query<TokenHolder & { isCounted: boolean }>(CHECK, [hash, address, uses]);
  return row ?? null;
}

/** What is known of a token, without a use of it. */
export async function findToken(query: Query, hash: Buffer, address: string | null): Promise<KnownToken | null> {
  const [row] = await query<KnownToken>(KNOW, [hash, address]);
  return row ?? null;
}

/** Why a token does not pass; null when it does. Only the holder of a token learns more than TOKEN_INVALID. */
export function refusalOf(token: KnownToken | null): ErrorCode | null {
  if (token === null) return 'TOKEN_INVALID';
  if (token.isRevoked) return 'TOKEN_REVOKED';
  if (token.isExpired) return 'TOKEN_EXPIRED';
  if (token.isSpent) return 'TOKEN_USES_EXHAUSTED';
  if (!token.isAddressTrusted) return 'TOKEN_ADDRESS_REFUSED';
  return token.role === null ? 'TOKEN_SCOPE_REFUSED' : null;
}

/** The token, unless it is refused. @throws the TOKEN_* codes */
export function requireValid(token: KnownToken | null): KnownToken {
  const refusal = refusalOf(token);
  if (token === null || refusal !== null) throw new AppError(refusal ?? 'TOKEN_INVALID');
  return token;
}

/**
 * The Context of the holder of a token, or of an identity that is logging in. The one place where a caller's scope and
 * rights come from.
 */
export const contextOf = (
  { database, keyring, auditTrail }: Kernel,
  info: RequestInfo,
  holder: Holder & { readonly tokenId: string | null },
): Context => ({
  requestId: info.requestId,
  address: info.address,
  userAgent: info.userAgent,
  load: info.load,
  database,
  keyring,
  auditTrail,
  actor: {
    kind: holder.actorKind,
    id: holder.actorId,
    name: holder.actorName,
    tokenId: holder.tokenId,
    // A right above all organizations: a token that is scoped to one below the root does not carry it.
    isInstallationAdmin: holder.isInstallationAdmin && holder.organizationId === holder.rootOrganizationId,
  },
  organizationId: holder.organizationId,
  rootOrganizationId: holder.rootOrganizationId,
  ability: organizationAbility(holder.role === null ? [] : [holder.role]),
  loaders: new Map(),
});
