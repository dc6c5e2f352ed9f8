import { defineEntity, p } from '@mikro-orm/core';
import { contentsColumns } from './secret.entity.js';

const SecretVersionSchema = defineEntity({
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
    ...contentsColumns,
    tagIds: p.array().columnType('uuid[]').defaultRaw(`'{}'::uuid[]`),
  },
});

/**
 * What one write of a secret left behind. It outlives its secret and its folder; its sealed columns are sealed as those of the
 * secret.
 */
export class SecretVersion extends SecretVersionSchema.class {}
SecretVersionSchema.setClass(SecretVersion);
