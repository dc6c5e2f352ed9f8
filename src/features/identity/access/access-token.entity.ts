import { defineEntity, p } from '@mikro-orm/core';
import { newId } from '../../../kernel/ids.js';
import { AuthMethodEnum } from '../identities/public.js';

export const AccessTokenSchema = defineEntity({
  name: 'AccessToken',
  tableName: 'access_token',
  uniques: [{ name: 'access_token_hash_unique', properties: ['tokenHash'] }],
  properties: {
    id: p.uuid().primary().onCreate(newId),
    organizationId: p.uuid(),
    identityId: p.uuid().nullable(),
    userId: p.uuid().nullable(),
    authMethod: p.enum(() => AuthMethodEnum),
    name: p.text().nullable(),
    tokenHash: p.blob(),
    ttlSeconds: p.integer(),
    maxTtlSeconds: p.integer(),
    numUsesLimit: p.integer(),
    numUses: p.bigint('string').defaultRaw('0'),
    periodSeconds: p.integer().default(0),
    expiresAt: p.datetime(3).nullable(),
    isRevoked: p.boolean().default(false),
    lastUsedAt: p.datetime(3).nullable(),
    lastRenewedAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    updatedAt: p.datetime(3).defaultRaw('now()'),
    clientSecretId: p.uuid().nullable(),
    makerId: p.uuid().nullable(),
    sessionClaims: p.json<Readonly<Record<string, string>>>().nullable(),
  },
});

/** An access token of a machine identity or of a user. Only a hash of the token is stored, `tokenHash`. */
export class AccessToken extends AccessTokenSchema.class {}
AccessTokenSchema.setClass(AccessToken);
