import { defineEntity, p } from '@mikro-orm/core';
import { newId } from '../../../kernel/ids.js';
import { Identity } from '../organizations/public.js';

export const ClientSecretSchema = defineEntity({
  name: 'ClientSecret',
  tableName: 'universal_auth_client_secret',
  uniques: [{ name: 'universal_auth_client_secret_hash_unique', properties: ['secretHash'] }],
  properties: {
    id: p.uuid().primary().onCreate(newId),
    identityId: p.uuid(),
    identity: () => p.manyToOne(Identity).joinColumn('identity_id').persist(false),
    secretHash: p.blob(),
    prefix: p.text(),
    description: p.text(),
    ttlSeconds: p.integer(),
    numUsesLimit: p.integer(),
    numUses: p.bigint('string').defaultRaw('0'),
    expiresAt: p.datetime(3).nullable(),
    isRevoked: p.boolean().default(false),
    lastUsedAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
});

/**
 * A client secret of a machine identity. Of the secret itself a hash is stored, `secretHash`, and four characters, `prefix`.
 */
export class ClientSecret extends ClientSecretSchema.class {}
ClientSecretSchema.setClass(ClientSecret);
