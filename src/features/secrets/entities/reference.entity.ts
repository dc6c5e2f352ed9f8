import { defineEntity, p } from '@mikro-orm/core';

export const SecretReferenceSchema = defineEntity({
  name: 'SecretReference',
  tableName: 'secret_reference',
  uniques: [{ name: 'secret_reference_unique', properties: ['secretId', 'key', 'path', 'environment'] }],
  // The table has no primary key, since its columns cannot be null. MikroORM needs one; these columns are unique.
  properties: {
    secretId: p.uuid().primary(),
    projectId: p.uuid(),
    environment: p.text().primary().nullable(),
    path: p.text().primary().nullable(),
    key: p.text().primary(),
  },
});

/**
 * A secret that the value of another one references. Without an environment it is in the folder of the secret itself.
 */
export class SecretReference extends SecretReferenceSchema.class {}
SecretReferenceSchema.setClass(SecretReference);
