/** A client secret as services pass it on: everything but the secret itself, in the names of the interface. */
export interface ClientSecretView {
  readonly id: string;
  readonly identityId: string;
  readonly description: string;
  readonly clientSecretPrefix: string;
  readonly clientSecretTTL: number;
  readonly clientSecretNumUses: number;
  readonly clientSecretNumUsesLimit: number;
  readonly clientSecretLastUsedAt: Date | null;
  readonly isClientSecretRevoked: boolean;
  readonly expiresAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A client secret that was just made: the only moment at which it is there to be shown. */
export interface IssuedClientSecret {
  readonly clientSecret: string;
  readonly clientSecretData: ClientSecretView;
}

/** The columns of a ClientSecretView, of the table or alias `c`. */
export const CLIENT_SECRET_COLUMNS = `c.id, c.identity_id as "identityId", c.description, c.prefix as "clientSecretPrefix",
  c.ttl_seconds as "clientSecretTTL", c.num_uses::float8 as "clientSecretNumUses",
  c.num_uses_limit as "clientSecretNumUsesLimit", c.last_used_at as "clientSecretLastUsedAt",
  c.is_revoked as "isClientSecretRevoked", c.expires_at as "expiresAt", c.created_at as "createdAt", c.updated_at as "updatedAt"`;

const toDate = (time: Date | null): Date | null => (time === null ? null : new Date(time));

/** A row, whose times are texts, as a view. */
export const toClientSecretView = (row: ClientSecretView): ClientSecretView => ({
  ...row,
  clientSecretLastUsedAt: toDate(row.clientSecretLastUsedAt),
  expiresAt: toDate(row.expiresAt),
  createdAt: new Date(row.createdAt),
  updatedAt: new Date(row.updatedAt),
});
