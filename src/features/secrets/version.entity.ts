import { defineEntity, p } from '@mikro-orm/core';

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
    commentSealed: p.blob().nullable(),
    metadata: p.json<unknown>().defaultRaw(`'[]'::jsonb`),
    metadataSealed: p.blob().nullable(),
    skipMultilineEncoding: p.boolean().default(false),
    reminderNote: p.text().nullable(),
    reminderRepeatDays: p.integer().nullable(),
    reminderRecipientIds: p.array().columnType('uuid[]').defaultRaw(`'{}'::uuid[]`),
    tagIds: p.array().columnType('uuid[]').defaultRaw(`'{}'::uuid[]`),
    actorKind: p.text(),
    actorId: p.uuid(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
});

/**
 * What one write of a secret left behind. It outlives its secret and its folder; its sealed columns are sealed as those of the
 * secret.
 */
export class SecretVersion extends SecretVersionSchema.class {}
SecretVersionSchema.setClass(SecretVersion);
