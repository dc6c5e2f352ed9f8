import { toInt } from '../../../../kernel/number-rules.js';
import type { ClientSecret } from './client-secret.entity.js';

/** A client secret as services pass it on: everything but the secret itself. */
export type ClientSecretView = ReturnType<typeof toClientSecretView>;

/** A client secret that was just made: the only moment at which it is there to be shown. */
export interface IssuedClientSecret {
  readonly clientSecret: string;
  readonly clientSecretData: ClientSecretView;
}

/** In the names of the interface. */
export const toClientSecretView = (row: Omit<ClientSecret, 'secretHash' | 'identity'>) => ({
  id: row.id,
  identityId: row.identityId,
  description: row.description,
  clientSecretPrefix: row.prefix,
  clientSecretTTL: row.ttlSeconds,
  clientSecretNumUses: toInt(row.numUses),
  clientSecretNumUsesLimit: row.numUsesLimit,
  clientSecretLastUsedAt: row.lastUsedAt ?? null,
  isClientSecretRevoked: row.isRevoked,
  expiresAt: row.expiresAt ?? null,
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
});
