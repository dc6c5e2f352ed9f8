import type { AuthMethod } from '../identities/public.js';
import { ENDS_AT } from './token-check.js';

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

/** The columns of an AccessTokenView, of the aliases `t` (the token) and `o` (the organization of its scope). */
export const TOKEN_COLUMNS = `t.id, t.identity_id as "identityId", t.user_id as "userId", t.created_at as "createdAt", t.updated_at as "updatedAt",
  t.auth_method as "authMethod", t.ttl_seconds as "accessTokenTTL", t.max_ttl_seconds as "accessTokenMaxTTL",
  t.num_uses::float8 as "accessTokenNumUses", t.num_uses_limit as "accessTokenNumUsesLimit",
  t.last_used_at as "accessTokenLastUsedAt", t.last_renewed_at as "accessTokenLastRenewedAt",
  t.is_revoked as "isAccessTokenRevoked", t.name, t.period_seconds as "accessTokenPeriod",
  t.client_secret_id as "identityUAClientSecretId", case when o.parent_id is not null then o.id end as "subOrganizationId", ${ENDS_AT} as "expiresAt", t.maker_id as "makerTokenId"`;

const toDate = (time: Date | null): Date | null => (time === null ? null : new Date(time));

/** A row, whose times are texts, as a view. */
export const toAccessTokenView = (row: AccessTokenView): AccessTokenView => ({
  ...row,
  createdAt: new Date(row.createdAt),
  updatedAt: new Date(row.updatedAt),
  accessTokenLastUsedAt: toDate(row.accessTokenLastUsedAt),
  accessTokenLastRenewedAt: toDate(row.accessTokenLastRenewedAt),
  expiresAt: toDate(row.expiresAt),
});
