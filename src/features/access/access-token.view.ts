import { toInt } from '../../kernel/graphql/int.js';
import type { AuthMethod } from '../identities/public.js';
import type { TokenRow } from './access-token.queries.js';

/** A token as services pass it on: everything but the token itself, in the names of the interface. */
export interface AccessTokenView {
  readonly id: string;
  readonly identityId: string | null;
  readonly userId: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly authMethod: AuthMethod;
  readonly accessTokenTTL: number;
  readonly accessTokenMaxTTL: number;
  readonly accessTokenNumUses: number;
  readonly accessTokenNumUsesLimit: number;
  readonly accessTokenLastUsedAt: Date | null;
  readonly accessTokenLastRenewedAt: Date | null;
  readonly isAccessTokenRevoked: boolean;
  readonly identityUAClientSecretId: string | null;
  readonly name: string | null;
  readonly accessTokenPeriod: number;
  readonly subOrganizationId: string | null;
  readonly expiresAt: Date | null;
  readonly makerTokenId: string | null;
}

export const toAccessTokenView = (row: TokenRow): AccessTokenView => ({
  id: row.id,
  identityId: row.identity_id,
  userId: row.user_id,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  authMethod: row.auth_method,
  accessTokenTTL: row.ttl_seconds,
  accessTokenMaxTTL: row.max_ttl_seconds,
  accessTokenNumUses: toInt(row.num_uses),
  accessTokenNumUsesLimit: row.num_uses_limit,
  accessTokenLastUsedAt: row.last_used_at,
  accessTokenLastRenewedAt: row.last_renewed_at,
  isAccessTokenRevoked: row.is_revoked,
  identityUAClientSecretId: row.client_secret_id,
  name: row.name,
  accessTokenPeriod: row.period_seconds,
  subOrganizationId: row.parent_id === null ? null : row.organization_id,
  expiresAt: endOf(row),
  makerTokenId: row.maker_id,
});

/** When a token ends at the latest; null for never. What counts is `ENDS_AT` of its check: this only shows it. */
function endOf({ expires_at, max_ttl_seconds, created_at }: TokenRow): Date | null {
  const oldest = max_ttl_seconds > 0 ? new Date(created_at.getTime() + max_ttl_seconds * 1_000) : null;
  if (expires_at === null || oldest === null) return expires_at ?? oldest;
  return expires_at < oldest ? expires_at : oldest;
}
