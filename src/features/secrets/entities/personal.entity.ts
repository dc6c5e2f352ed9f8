import { defineEntity, p } from '@mikro-orm/core';
import { newId } from '../../../kernel/ids.js';

export const PersonalSecretSchema = defineEntity({
  name: 'PersonalSecret',
  tableName: 'personal_secret',
  uniques: [{ name: 'personal_secret_owner_unique', properties: ['secretId', 'userId'] }],
  properties: {
    id: p.uuid().primary().onCreate(newId),
    organizationId: p.uuid(),
    projectId: p.uuid(),
    secretId: p.uuid(),
    userId: p.uuid(),
    version: p.integer().default(1),
    valueSealed: p.blob().$type<Buffer>(),
    commentSealed: p.blob().$type<Buffer>().nullable(),
    valueDigest: p.blob().$type<Buffer>().nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
});

/** The personal value of one user for a shared secret. Value and comment are sealed, and the digest is like that of a secret. */
export class PersonalSecret extends PersonalSecretSchema.class {}
PersonalSecretSchema.setClass(PersonalSecret);
