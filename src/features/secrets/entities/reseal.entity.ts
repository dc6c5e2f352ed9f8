import { defineEntity, p } from '@mikro-orm/core';

export const SecretResealSchema = defineEntity({
  name: 'SecretReseal',
  tableName: 'secret_reseal',
  properties: {
    projectId: p.uuid().primary(),
    organizationId: p.uuid(),
  },
});

/** A project whose secrets are sealed in the format of an earlier release, and wait to be resealed. */
export class SecretReseal extends SecretResealSchema.class {}
SecretResealSchema.setClass(SecretReseal);
