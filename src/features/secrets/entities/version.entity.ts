import { defineEntity, p } from '@mikro-orm/core';
import { contentsColumns } from './secret.entity.js';

export const SecretVersionSchema = defineEntity({
  name: 'SecretVersion',
  tableName: 'secret_version',
  properties: {
    secretId: p.uuid().primary(),
    version: p.integer().primary(),
    organizationId: p.uuid(),
    projectId: p.uuid(),
    environmentId: p.uuid(),
    folderId: p.uuid(),
    path: p.text(),
    key: p.text(),
    isDeletion: p.boolean().default(false),
    valueSealed: p.blob().nullable(),
    valueDigest: p.blob().nullable(),
    ...contentsColumns,
    tagIds: p.array().columnType('uuid[]').defaultRaw(`'{}'::uuid[]`),
  },
});

/**
 * The contents of a secret after one write. It outlives its secret and its folder; its columns are sealed like those of
 * the secret, and equal values have equal digests.
 */
export class SecretVersion extends SecretVersionSchema.class {}
SecretVersionSchema.setClass(SecretVersion);
