import { defineEntity, p } from '@mikro-orm/core';

export const SecretRotationKeySchema = defineEntity({
  name: 'SecretRotationKey',
  tableName: 'secret_rotation_key',
  uniques: [{ name: 'secret_rotation_key_unique', properties: ['folderId', 'key'], deferMode: 'immediate' }],
  properties: {
    rotationId: p.uuid().primary(),
    field: p.text().primary(),
    organizationId: p.uuid(),
    projectId: p.uuid(),
    folderId: p.uuid(),
    key: p.text(),
  },
});

/**
 * A key that is reserved for the secret that a rotation writes a field of its credentials to, before the secret exists
 * and after: nobody else can use the key, and nobody can delete the folder.
 */
export class SecretRotationKey extends SecretRotationKeySchema.class {}
SecretRotationKeySchema.setClass(SecretRotationKey);
