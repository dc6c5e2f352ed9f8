/** The token-auth configuration of an identity as services pass it on, in the names of the interface. */
export interface TokenAuthView {
  readonly identityId: string;
  readonly accessTokenTrustedIps: { readonly ipAddress: string }[];
  readonly accessTokenTTL: number;
  readonly accessTokenMaxTTL: number;
  readonly accessTokenNumUsesLimit: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** The columns of a TokenAuthView, of the table or alias `a`. */
export const TOKEN_AUTH_COLUMNS = `a.identity_id as "identityId",
  (select json_agg(json_build_object('ipAddress', text(range))) from unnest(a.trusted_ips) range) as "accessTokenTrustedIps",
  a.ttl_seconds as "accessTokenTTL", a.max_ttl_seconds as "accessTokenMaxTTL", a.num_uses_limit as "accessTokenNumUsesLimit",
  a.created_at as "createdAt", a.updated_at as "updatedAt"`;

/** A row, whose times are texts, as a view. */
export const toTokenAuthView = (row: TokenAuthView): TokenAuthView => ({
  ...row,
  createdAt: new Date(row.createdAt),
  updatedAt: new Date(row.updatedAt),
});
