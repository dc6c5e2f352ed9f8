import { toInt } from '../../../kernel/graphql/int.js';
import type { ClientSecretRow } from './client-secret.queries.js';

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

export const toClientSecretView = (row: ClientSecretRow): ClientSecretView => ({
  id: row.id,
  identityId: row.identity_id,
  description: row.description,
  clientSecretPrefix: row.prefix,
  clientSecretTTL: row.ttl_seconds,
  clientSecretNumUses: toInt(row.num_uses),
  clientSecretNumUsesLimit: row.num_uses_limit,
  clientSecretLastUsedAt: row.last_used_at,
  isClientSecretRevoked: row.is_revoked,
  expiresAt: row.expires_at,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});
