import type { TokenAuthView } from './token-auth.view.js';

/** The universal-auth configuration of an identity as services pass it on, in the names of the interface. */
export interface UniversalAuthView extends TokenAuthView {
  readonly clientId: string;
  readonly clientSecretTrustedIps: { readonly ipAddress: string }[];
}

const networks = (column: string): string =>
  `(select json_agg(json_build_object('ipAddress', text(range))) from unnest(a.${column}) range)`;

/** The columns of a UniversalAuthView, of the table or alias `a`. */
export const UNIVERSAL_AUTH_COLUMNS = `a.identity_id as "identityId", a.client_id as "clientId",
  ${networks('client_secret_trusted_ips')} as "clientSecretTrustedIps", ${networks('trusted_ips')} as "accessTokenTrustedIps",
  a.ttl_seconds as "accessTokenTTL", a.max_ttl_seconds as "accessTokenMaxTTL", a.num_uses_limit as "accessTokenNumUsesLimit",
  a.created_at as "createdAt", a.updated_at as "updatedAt"`;

/** A row, whose times are texts, as a view. */
export const toUniversalAuthView = (row: UniversalAuthView): UniversalAuthView => ({
  ...row,
  createdAt: new Date(row.createdAt),
  updatedAt: new Date(row.updatedAt),
});
